import java.util.ArrayList;
import java.util.List;

/**
 * The operations on one key, as their clients saw them. Values are numbers, each written at most
 * once; 0 is a key that is not there. Thread-safe.
 */
final class History {
  /**
   * The time of return of an operation whose outcome is not known: it may take effect at any time,
   * or never.
   */
  static final long NEVER = Long.MAX_VALUE;

  enum Kind { GET, PUT, COMPARE_AND_PUT }

  /**
   * One operation. A GET has the value that it read; a PUT the value that it wrote; a
   * COMPARE_AND_PUT the one expected, the one to write, and whether it was.
   */
  record Operation(
      Kind kind, long expected, long value, boolean written, long called, long returned) {
    static Operation get(long value, long called, long returned) {
      return new Operation(Kind.GET, 0, value, false, called, returned);
    }

    static Operation put(long value, long called, long returned) {
      return new Operation(Kind.PUT, 0, value, true, called, returned);
    }

    static Operation compareAndPut(
        long expected, long value, boolean written, long called, long returned) {
      return new Operation(Kind.COMPARE_AND_PUT, expected, value, written, called, returned);
    }

    boolean isKnown() {
      return returned != NEVER;
    }

    boolean isAcknowledgedWrite() {
      return isKnown() && kind != Kind.GET && written;
    }
  }

  private final List<Operation> operations = new ArrayList<>();

  synchronized void add(Operation operation) {
    operations.add(operation);
  }

  synchronized List<Operation> operations() {
    return new ArrayList<>(operations);
  }

  /**
   * Whether the value was lost: an acknowledged write was called after the write of the value that
   * is there at the end had returned, or an acknowledged value was replaced by none. A second
   * opinion, simpler than the checker's and with fewer findings.
   */
  static boolean lostAcknowledgedWrite(List<Operation> operations, long valueAtEnd) {
    long written = Long.MIN_VALUE;
    if (valueAtEnd != 0) {
      written = NEVER;
      for (Operation operation : operations) {
        if (operation.kind != Kind.GET && operation.value == valueAtEnd)
          written = operation.returned;
      }
    }
    for (Operation operation : operations) {
      if (operation.isAcknowledgedWrite() && operation.called > written) return true;
    }
    return false;
  }
}
