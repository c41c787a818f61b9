import java.util.concurrent.atomic.AtomicLong;

/** The judge of a load, on loads that go on and on loads that do not. */
public final class ProgressTest {
  private static final long NO_WAIT_NS = 0;
  private static final long WAIT_NS = 60_000_000_000L;

  private ProgressTest() {}

  private static void fails(Progress progress) throws InterruptedException {
    try {
      progress.await();
    } catch (IllegalStateException e) {
      return;
    }
    throw new AssertionError("a load that acknowledged nothing is right");
  }

  private static void aLoadThatNeverBeginsIsWrong() throws InterruptedException {
    fails(new Progress(() -> 0, NO_WAIT_NS));
  }

  private static void aLoadThatEndsAtAKillIsWrong() throws InterruptedException {
    AtomicLong acknowledged = new AtomicLong(7);
    Progress progress = new Progress(acknowledged::get, NO_WAIT_NS);
    progress.await();
    progress.mark();
    fails(progress);
    acknowledged.incrementAndGet();
    progress.await();
    progress.mark();
    fails(progress);
  }

  private static void aLoadThatGoesOnLaterIsAwaited() throws InterruptedException {
    AtomicLong looks = new AtomicLong();
    new Progress(() -> looks.incrementAndGet() < 3 ? 0 : 1, WAIT_NS).await();
    if (looks.get() != 3) throw new AssertionError("wanted 3 looks, got " + looks);
  }

  public static void main(String[] arguments) throws Exception {
    aLoadThatNeverBeginsIsWrong();
    aLoadThatEndsAtAKillIsWrong();
    aLoadThatGoesOnLaterIsAwaited();
    System.out.println("3 passed, 0 failed");
  }
}
