import java.util.function.LongSupplier;

/**
 * What a load has acknowledged since a mark: a kill under no load shows nothing. One thread uses
 * it.
 */
final class Progress {
  private final LongSupplier acknowledged;
  private final long waitNs;
  private long marked;

  /** Marks the beginning of the load, when nothing is acknowledged. */
  Progress(LongSupplier acknowledged, long waitNs) {
    this.acknowledged = acknowledged;
    this.waitNs = waitNs;
  }

  void mark() {
    marked = acknowledged.getAsLong();
  }

  /**
   * Returns when an operation was acknowledged since the mark. IllegalStateException if the wait is
   * too long.
   */
  void await() throws InterruptedException {
    long begin = System.nanoTime();
    while (acknowledged.getAsLong() == marked) {
      if (System.nanoTime() - begin >= waitNs) {
        throw new IllegalStateException(
            "the load acknowledges nothing more after " + marked + " operations");
      }
      Thread.sleep(2);
    }
  }
}
