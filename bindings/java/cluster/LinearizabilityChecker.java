import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Whether a history of one key is linearizable: whether each operation can take effect at one
 * moment between its call and its return so that every result is that of a register with
 * compare-and-put.
 *
 * <p>A depth-first search over the order of effects (Wing and Gong 1993) that remembers the pairs
 * of operations done and value reached which led nowhere (Lowe 2017). The list holds calls and
 * returns in the order of time:
 *
 * <pre>
 *   call a   call b   return b   call c   return a   return c
 *   ^ candidates: the calls before the first return, as nothing that has returned may come later
 * </pre>
 *
 * <p>An operation whose outcome is not known returns after all others, where any result fits: so it
 * may also never have taken effect. Keys are independent of each other, which makes the search
 * short.
 */
final class LinearizabilityChecker {
  enum Verdict { LINEARIZABLE, VIOLATED, UNDECIDED }

  private static final long STEPS_MAX = 20_000_000;

  /**
   * An entry of the list: a call, which knows its return, or a return, whose own return is null.
   */
  private static final class Entry {
    final History.Operation operation;
    final int number;
    Entry matchingReturn;
    Entry previous;
    Entry next;

    Entry(History.Operation operation, int number) {
      this.operation = operation;
      this.number = number;
    }

    void remove() {
      previous.next = next;
      if (next != null) next.previous = previous;
    }

    void restore() {
      previous.next = this;
      if (next != null) next.previous = this;
    }
  }

  private record State(BitSet done, long value) {}

  private record Step(Entry call, long valueBefore) {}

  private LinearizabilityChecker() {}

  /** The key has the value `initial` before the first operation. */
  static Verdict check(List<History.Operation> operations, long initial) {
    Entry head = list(operations);
    Set<State> seen = new HashSet<>();
    ArrayList<Step> path = new ArrayList<>();
    BitSet done = new BitSet(operations.size());
    long value = initial;
    long steps = 0;
    Entry entry = head.next;
    while (head.next != null) {
      if (++steps > STEPS_MAX) return Verdict.UNDECIDED;
      if (entry.matchingReturn != null) {
        History.Operation operation = entry.operation;
        if (fits(operation, value)) {
          long after = apply(operation, value);
          done.set(entry.number);
          if (seen.add(new State((BitSet) done.clone(), after))) {
            path.add(new Step(entry, value));
            value = after;
            entry.remove();
            entry.matchingReturn.remove();
            entry = head.next;
            continue;
          }
          done.clear(entry.number);
        }
        entry = entry.next;
      } else {
        // The call of this return could not take effect before it, so the last choice was wrong.
        if (path.isEmpty()) return Verdict.VIOLATED;
        Step last = path.remove(path.size() - 1);
        value = last.valueBefore;
        done.clear(last.call.number);
        last.call.matchingReturn.restore();
        last.call.restore();
        entry = last.call.next;
      }
    }
    return Verdict.LINEARIZABLE;
  }

  private static boolean fits(History.Operation operation, long value) {
    return switch (operation.kind()) {
      case GET -> operation.value() == value;
      case PUT -> true;
      case COMPARE_AND_PUT ->
        !operation.isKnown() || operation.written() == (operation.expected() == value);
    };
  }

  private static long apply(History.Operation operation, long value) {
    return switch (operation.kind()) {
      case GET -> value;
      case PUT -> operation.value();
      case COMPARE_AND_PUT -> operation.expected() == value ? operation.value() : value;
    };
  }

  private static Entry list(List<History.Operation> operations) {
    record Event(long time, boolean isReturn, Entry entry) {}
    List<Event> events = new ArrayList<>(2 * operations.size());
    for (int i = 0; i < operations.size(); ++i) {
      History.Operation operation = operations.get(i);
      Entry call = new Entry(operation, i);
      call.matchingReturn = new Entry(operation, i);
      events.add(new Event(operation.called(), false, call));
      events.add(new Event(operation.returned(), true, call.matchingReturn));
    }
    // At equal times calls come before returns, so that the operations overlap. This allows more
    // orders, and so gives no false alarm.
    events.sort(Comparator.comparingLong(Event::time).thenComparing(Event::isReturn));
    Entry head = new Entry(null, -1);
    Entry last = head;
    for (Event event : events) {
      event.entry.previous = last;
      last.next = event.entry;
      last = event.entry;
    }
    return head;
  }
}
