import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Threads that get, put and compareAndPut keys and record what they see, until stop. After a
 * failure a thread reads until that works again: a read that fails changes nothing, a write that
 * fails stays open for ever.
 *
 * <p>compareAndPut: RheaKV compares all those of one batch with the values before the batch, at
 * each replica and at each replay anew, so two on the same key that meet in a batch are applied
 * wrongly. A put of the key between them ends the batch; this workload has one between any two.
 */
final class Workload {
  enum Kind { READ, WRITE }

  private static final int TIMEOUT_MS = 8000;

  /**
   * Between two compareAndPut: OPEN, then BUSY while one is sent, then PUT_NEXT until a put was
   * acknowledged.
   */
  private enum Turn { OPEN, BUSY, PUT_NEXT, CLOSED }

  private final class Key {
    final byte[] bytes;
    final History history = new History();
    final AtomicReference<Turn> turn = new AtomicReference<>(Turn.OPEN);
    volatile long lastSeen;

    Key(byte[] bytes) {
      this.bytes = bytes;
    }
  }

  private final RheaClient client;
  private final Values values;
  private final Key[] keys;
  private final AtomicLong numbers = new AtomicLong();
  private final List<Thread> threads = new ArrayList<>();
  private final List<List<long[]>> latencies = List.of(new ArrayList<>(), new ArrayList<>());
  private volatile boolean stopped;
  private volatile boolean paused;
  private final AtomicLong running = new AtomicLong();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong unknown = new AtomicLong();
  private final AtomicLong damaged = new AtomicLong();
  private volatile Throwable failure;

  Workload(RheaClient client, Values values, int keyCount) {
    this.client = client;
    this.values = values;
    keys = new Key[keyCount];
    for (int i = 0; i < keyCount; ++i) keys[i] = new Key(Values.key(i + 1, 'h'));
  }

  void start(int threadCount, long seed) {
    for (int i = 0; i < threadCount; ++i) {
      Random random = new Random(seed + i);
      Thread thread = new Thread(() -> run(random), "load " + i);
      threads.add(thread);
      thread.start();
    }
  }

  void stop() throws InterruptedException {
    stopped = true;
    for (Thread thread : threads) thread.join();
    if (failure != null)
      throw new IllegalStateException("a thread of the workload failed", failure);
  }

  /** Returns when no operation is on its way. */
  void pause() throws InterruptedException {
    paused = true;
    while (running.get() > 0) Thread.sleep(1);
  }

  void resume() {
    paused = false;
  }

  long acknowledged() {
    return acknowledged.get();
  }

  long unknown() {
    return unknown.get();
  }

  long damaged() {
    return damaged.get();
  }

  /** Latencies in ns since the last call, in order. */
  long[] takeLatencies(Kind kind) {
    List<long[]> own = latencies.get(kind.ordinal()), taken;
    synchronized (own) {
      taken = new ArrayList<>(own);
      own.clear();
    }
    long[] all = taken.stream().flatMapToLong(Arrays::stream).toArray();
    Arrays.sort(all);
    return all;
  }

  /** The latencies that one thread has measured and not handed over. */
  private final class Times {
    private final List<long[]> list;
    private long[] times = new long[64];
    private int count;

    Times(Kind kind) {
      list = latencies.get(kind.ordinal());
    }

    void add(long time) {
      times[count++] = time;
      if (count < times.length) return;
      synchronized (list) {
        list.add(times);
      }
      times = new long[64];
      count = 0;
    }
  }

  private void run(Random random) {
    Times reads = new Times(Kind.READ), writes = new Times(Kind.WRITE);
    try {
      while (!stopped) {
        running.incrementAndGet();
        try {
          if (!paused) runOne(random, reads, writes);
        } finally {
          running.decrementAndGet();
        }
        if (paused) Thread.sleep(1);
      }
    } catch (Throwable e) {
      failure = e;
    }
  }

  private void runOne(Random random, Times reads, Times writes) throws InterruptedException {
    Key key = keys[random.nextInt(keys.length)];
    int dice = random.nextInt(10);
    long called = System.nanoTime();
    if (operate(key, dice, called)) {
      (dice < 5 ? reads : writes).add(System.nanoTime() - called);
      acknowledged.incrementAndGet();
    } else {
      awaitService(key);
    }
  }

  /** 5 of 10 read, 4 put, 1 compares and puts. Returns whether it succeeded. */
  private boolean operate(Key key, int dice, long called) throws InterruptedException {
    if (dice < 5) return get(key, called);
    // RheaKV rejects a compare-and-put that expects a missing key.
    if (dice == 9 && key.lastSeen != 0 && key.turn.compareAndSet(Turn.OPEN, Turn.BUSY))
      return compareAndPut(key, called);
    return put(key, called);
  }

  private boolean get(Key key, long called) throws InterruptedException {
    byte[] bytes;
    try {
      bytes = await(RheaClient.call(() -> client.store().get(key.bytes)));
    } catch (ExecutionException | TimeoutException e) {
      return false;
    }
    long returned = System.nanoTime();
    try {
      long value = values.decode(bytes);
      key.history.add(History.Operation.get(value, called, returned));
      key.lastSeen = value;
    } catch (IllegalStateException e) {
      damaged.incrementAndGet();
    }
    return true;
  }

  private boolean put(Key key, long called) throws InterruptedException {
    long value = numbers.incrementAndGet();
    boolean ends = key.turn.get() == Turn.PUT_NEXT;
    byte[] bytes = values.encode(value);
    try {
      await(RheaClient.call(() -> client.store().put(key.bytes, bytes)));
    } catch (ExecutionException | TimeoutException e) {
      unknown.incrementAndGet();
      key.history.add(History.Operation.put(value, called, History.NEVER));
      return false;
    }
    key.history.add(History.Operation.put(value, called, System.nanoTime()));
    if (ends) key.turn.compareAndSet(Turn.PUT_NEXT, Turn.OPEN);
    return true;
  }

  private boolean compareAndPut(Key key, long called) throws InterruptedException {
    long value = numbers.incrementAndGet();
    long expected = key.lastSeen;
    byte[] from = values.encode(expected), to = values.encode(value);
    boolean written;
    try {
      written = await(RheaClient.call(() -> client.store().compareAndPut(key.bytes, from, to)));
    } catch (ExecutionException | TimeoutException e) {
      unknown.incrementAndGet();
      key.history.add(
          History.Operation.compareAndPut(expected, value, false, called, History.NEVER));
      key.turn.set(Turn.CLOSED);  // it may take effect at any time
      return false;
    }
    key.history.add(
        History.Operation.compareAndPut(expected, value, written, called, System.nanoTime()));
    key.turn.set(Turn.PUT_NEXT);
    return true;
  }

  private static <T> T await(Future<T> future)
      throws InterruptedException, ExecutionException, TimeoutException {
    return future.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
  }

  private void awaitService(Key key) throws InterruptedException {
    while (!stopped && !paused) {
      if (client.findLeader(key.bytes) && get(key, System.nanoTime())) return;
      Thread.sleep(10);
    }
  }

  /** Reads each key once more, when nothing writes. */
  record Judgement(long keys, long operations, long lost, long violated, long undecided,
      List<String> findings) {}

  Judgement judge() throws InterruptedException {
    long operations = 0, lost = 0, violated = 0, undecided = 0;
    List<String> findings = new ArrayList<>();
    for (Key key : keys) {
      while (!get(key, System.nanoTime())) {
        client.findLeader(key.bytes);
        Thread.sleep(10);
      }
      List<History.Operation> history = key.history.operations();
      operations += history.size();
      String name = new String(key.bytes, java.nio.charset.StandardCharsets.US_ASCII);
      if (History.lostAcknowledgedWrite(history, key.lastSeen)) {
        ++lost;
        findings.add("lost: " + name + " " + history);
      }
      switch (LinearizabilityChecker.check(history, 0)) {
        case VIOLATED -> {
          ++violated;
          findings.add("not linearizable: " + name + " " + history);
        }
        case UNDECIDED -> {
          ++undecided;
          findings.add("not decided: " + name);
        }
        case LINEARIZABLE -> {
        }
      }
    }
    return new Judgement(keys.length, operations, lost, violated, undecided, findings);
  }
}
