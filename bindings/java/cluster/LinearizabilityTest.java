import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** The checker on histories that are right and on histories that are wrong. */
public final class LinearizabilityTest {
  private static int failed;

  private static void expect(
      LinearizabilityChecker.Verdict wanted, String what, History.Operation... operations) {
    LinearizabilityChecker.Verdict got = LinearizabilityChecker.check(List.of(operations), 0);
    if (got != wanted) {
      ++failed;
      System.out.println("FAILED: " + what + ": wanted " + wanted + ", got " + got);
    }
  }

  private static History.Operation get(long value, long called, long returned) {
    return History.Operation.get(value, called, returned);
  }

  private static History.Operation put(long value, long called, long returned) {
    return History.Operation.put(value, called, returned);
  }

  private static History.Operation compareAndPut(
      long expected, long value, boolean written, long called, long returned) {
    return History.Operation.compareAndPut(expected, value, written, called, returned);
  }

  private static void right() {
    LinearizabilityChecker.Verdict right = LinearizabilityChecker.Verdict.LINEARIZABLE;
    expect(right, "nothing");
    expect(right, "a read of what was written", put(1, 0, 1), get(1, 2, 3));
    expect(right, "a read during a write, before and after it", put(1, 0, 9), get(0, 1, 2),
        get(1, 3, 4));
    expect(
        right, "two writes at once, in either order", put(1, 0, 9), put(2, 0, 9), get(1, 10, 11));
    expect(right, "a write of unknown outcome that took effect late", put(1, 0, 1),
        put(2, 2, History.NEVER), get(1, 5, 6), get(2, 7, 8));
    expect(right, "a write of unknown outcome that never took effect", put(1, 0, 1),
        put(2, 2, History.NEVER), get(1, 5, 6));
    expect(right, "one of two compareAndPut", put(1, 0, 1), compareAndPut(1, 2, true, 2, 5),
        compareAndPut(1, 3, false, 2, 5), get(2, 6, 7));
    expect(right, "compareAndPut of unknown outcome", put(1, 0, 1),
        compareAndPut(1, 2, false, 2, History.NEVER), get(1, 3, 4), get(2, 5, 6));
    expect(right, "compareAndPut of a key that is not there", compareAndPut(0, 1, true, 0, 1),
        get(1, 2, 3));
  }

  private static void wrong() {
    LinearizabilityChecker.Verdict wrong = LinearizabilityChecker.Verdict.VIOLATED;
    expect(wrong, "an acknowledged write is lost", put(1, 0, 1), get(0, 2, 3));
    expect(wrong, "the older of two writes is read", put(1, 0, 1), put(2, 2, 3), get(1, 4, 5));
    expect(wrong, "a value that nobody wrote", put(1, 0, 1), get(7, 2, 3));
    expect(wrong, "a value before its write is called", get(1, 0, 1), put(1, 2, 3));
    expect(
        wrong, "new, then old, while the write goes on", put(1, 0, 9), get(1, 1, 2), get(0, 3, 4));
    expect(wrong, "two readers see two writes in different orders", put(1, 0, 1), put(2, 0, 9),
        put(3, 0, 9), get(2, 1, 2), get(3, 3, 4), get(2, 5, 6));
    expect(wrong, "two compareAndPut expect the same and both write", put(1, 0, 1),
        compareAndPut(1, 2, true, 2, 5), compareAndPut(1, 3, true, 2, 5));
    expect(wrong, "compareAndPut writes over another value", put(1, 0, 1),
        compareAndPut(5, 2, true, 2, 3));
    expect(wrong, "compareAndPut fails although the value is there", put(1, 0, 1),
        compareAndPut(1, 2, false, 2, 3));
    expect(wrong, "a write of unknown outcome takes effect twice", put(2, 0, History.NEVER),
        get(2, 1, 2), put(1, 3, 4), get(2, 5, 6));
  }

  /**
   * Histories of a register that works, drawn with overlapping operations; then with one result
   * changed.
   */
  private static void random(long seed) {
    Random random = new Random(seed);
    for (int round = 0; round < 300; ++round) {
      List<History.Operation> operations = new ArrayList<>();
      List<Integer> reads = new ArrayList<>();
      long value = 0;
      for (int i = 1; i <= 200; ++i) {
        // The effect is at 10 * i. The call and the return are up to 2 operations away.
        long called = 10L * i - random.nextInt(25), returned = 10L * i + random.nextInt(25);
        switch (random.nextInt(4)) {
          case 0 -> {
            operations.add(put(i, called, random.nextInt(50) == 0 ? History.NEVER : returned));
            value = i;
          }
          case 1 -> {
            long expected = random.nextBoolean() ? value : i - 1;
            boolean written = expected == value;
            operations.add(compareAndPut(expected, i, written, called, returned));
            if (written) value = i;
          }
          default -> {
            reads.add(operations.size());
            operations.add(get(value, called, returned));
          }
        }
      }
      expect(LinearizabilityChecker.Verdict.LINEARIZABLE, "round " + round + " of seed " + seed,
          operations.toArray(new History.Operation[0]));
      // A read far from the first write must not see the key missing.
      int changed = reads.get(reads.size() - 1);
      History.Operation read = operations.get(changed);
      operations.set(changed, get(0, read.called(), read.returned()));
      if (read.value() != 0) {
        expect(LinearizabilityChecker.Verdict.VIOLATED,
            "round " + round + " of seed " + seed + " with a lost read",
            operations.toArray(new History.Operation[0]));
      }
    }
  }

  private static void lost() {
    check("a value older than an acknowledged write",
        History.lostAcknowledgedWrite(List.of(put(1, 0, 1), put(2, 2, 3)), 1));
    check("a missing value", History.lostAcknowledgedWrite(List.of(put(1, 0, 1)), 0));
    check("the last value", !History.lostAcknowledgedWrite(List.of(put(1, 0, 1), put(2, 2, 3)), 2));
    check("overlapping writes",
        !History.lostAcknowledgedWrite(List.of(put(1, 0, 5), put(2, 2, 3)), 1));
    check("a late write of unknown outcome",
        !History.lostAcknowledgedWrite(List.of(put(1, 0, History.NEVER), put(2, 2, 3)), 1));
  }

  private static void check(String what, boolean truth) {
    if (truth) return;
    ++failed;
    System.out.println("FAILED: lost writes: " + what);
  }

  public static void main(String[] arguments) {
    long seed = arguments.length > 0 ? Long.parseLong(arguments[0]) : System.nanoTime();
    right();
    wrong();
    lost();
    random(seed);
    System.out.println("linearizability checker: "
        + (failed == 0 ? "all histories judged right" : failed + " failed") + ", seed " + seed);
    System.exit(failed == 0 ? 0 : 1);
  }
}
