import static java.nio.charset.StandardCharsets.UTF_8;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.rocksdb.*;
import org.rocksdb.util.IntComparator;

/**
 * Tests of libashlarjni through RocksDB's classes: a plain program, one method for each scenario.
 */
public final class BindingTest {
  interface Test {
    void run(String dir) throws Exception;
  }

  private static final Map<String, Test> TESTS = new TreeMap<>();

  static void check(boolean truth, String what) {
    if (!truth) throw new AssertionError(what);
  }

  static void equal(Object wanted, Object got) {
    check(wanted == null ? got == null : wanted.equals(got), "wanted " + wanted + ", got " + got);
  }

  private static void equal(byte[] wanted, byte[] got) {
    check(Arrays.equals(wanted, got), "wanted " + text(wanted) + ", got " + text(got));
  }

  interface Action {
    void run() throws Exception;
  }

  private static <T extends Throwable> T fails(Class<T> type, Action action) {
    return fails(type, action, "the call");
  }

  static <T extends Throwable> T fails(Class<T> type, Action action, String what) {
    try {
      action.run();
    } catch (Throwable e) {
      if (type.isInstance(e)) return type.cast(e);
      throw new AssertionError(what + ": wanted " + type.getName(), e);
    }
    throw new AssertionError(what + ": wanted " + type.getName() + ", got none");
  }

  static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static String text(byte[] bytes) {
    return bytes == null ? null : new String(bytes, UTF_8);
  }

  static ByteBuffer direct(String text) {
    ByteBuffer buffer = ByteBuffer.allocateDirect(text.length());
    buffer.put(bytes(text)).flip();
    return buffer;
  }

  // ---- The scenarios.

  static void whatIsPutIsReadAfterReopening(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true)) {
      try (RocksDB db = RocksDB.open(options, dir)) {
        for (int i = 0; i < 1000; ++i) db.put(bytes("key" + i), bytes("value" + i));
        db.delete(bytes("key7"));
      }
      try (RocksDB db = RocksDB.open(options, dir)) {
        for (int i = 0; i < 1000; ++i)
          equal(i == 7 ? null : bytes("value" + i), db.get(bytes("key" + i)));
        byte[] room = new byte[3];
        equal(6, db.get(bytes("key1"), room));
        equal("val", text(room));
        equal(RocksDB.NOT_FOUND, db.get(bytes("none"), room));
      }
    }
  }

  static void errorsHaveCodeAndText(String dir) {
    RocksDBException e =
        fails(RocksDBException.class, () -> RocksDB.open(new Options(), dir + "/none/none"));
    equal(Status.Code.InvalidArgument, e.getStatus().getCode());
    check(e.getMessage().contains("none"), e.getMessage());
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir)) {
      RocksDBException locked = fails(RocksDBException.class, () -> RocksDB.open(options, dir));
      equal(Status.Code.IOError, locked.getStatus().getCode());
      equal(Status.Code.InvalidArgument,
          fails(RocksDBException.class, () -> db.merge(bytes("a"), bytes("b")))
              .getStatus()
              .getCode());
    } catch (RocksDBException other) {
      throw new AssertionError(other);
    }
  }

  static void answersAreThoseThatTheClassesKnow(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        ReadOptions reading = new ReadOptions()) {
      options.setMemTableConfig(new HashLinkedListMemTableConfig());
      equal("HashLinkedListRepFactory", options.memTableFactoryName());
      options.setMemTableConfig(new SkipListMemTableConfig());
      equal("SkipListFactory", options.memTableFactoryName());
      options.setMergeOperatorName("uint64add").setMergeOperatorName("");
      reading.setManaged(true);
      equal(true, reading.managed());
      try (ReadOptions copy = new ReadOptions(reading)) {
        equal(true, copy.managed());
      }
      try (RocksDB db = RocksDB.open(options, dir)) {
        check(db.getEnv() == Env.getDefault(), "another Env than the default one");
        RocksDBException locked = fails(RocksDBException.class, () -> RocksDB.open(options, dir));
        equal(Status.SubCode.None, locked.getStatus().getSubCode());
        Map<MemoryUsageType, Long> usage =
            MemoryUtil.getApproximateMemoryUsageByType(List.of(db), null);
        check(usage.get(MemoryUsageType.kMemTableTotal) > 0, "no memory of memtables");
        equal(null, usage.get(MemoryUsageType.kCacheTotal));
        equal(Status.Code.InvalidArgument,
            fails(RocksDBException.class, () -> db.merge(bytes("a"), bytes("b")))
                .getStatus()
                .getCode());
      }
    }
    equal(Map.of(), MemoryUtil.getApproximateMemoryUsageByType(null, null));
    try (DirectSlice ended = new DirectSlice(direct("text\0more"));
        DirectSlice whole = new DirectSlice(direct("text"));
        DirectSlice sized = new DirectSlice(direct("a\0b"), 3)) {
      equal("text", ended.toString());
      equal("text", whole.toString());
      equal(3, sized.size());
    }
  }

  static void aFamilyThatIsNamedTwiceIsOpenedOnce(String dir) throws Exception {
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    List<ColumnFamilyDescriptor> twice = new ArrayList<>();
    for (String name : List.of("default", "default", "new", "new"))
      twice.add(new ColumnFamilyDescriptor(bytes(name)));
    for (int round = 0; round < 2; ++round) {
      handles.clear();
      try (DBOptions options =
               new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
          RocksDB db = RocksDB.open(options, dir, twice, handles)) {
        db.put(handles.get(1), bytes("a" + round), bytes("1"));
        db.put(handles.get(3), bytes("b" + round), bytes("2"));
        for (int past = 0; past <= round; ++past) {
          equal(bytes("1"), db.get(handles.get(0), bytes("a" + past)));
          equal(bytes("2"), db.get(handles.get(2), bytes("b" + past)));
        }
        for (ColumnFamilyHandle handle : handles) handle.close();
      }
    }
  }

  static void useAfterCloseIsAnException(String dir) throws Exception {
    Options options = new Options().setCreateIfMissing(true);
    RocksDB db = RocksDB.open(options, dir);
    db.put(bytes("a"), bytes("1"));
    RocksIterator iterator = db.newIterator();
    iterator.seekToFirst();
    RocksIterator left = db.newIterator();
    ReadOptions reading = new ReadOptions();
    WriteBatch batch = new WriteBatch();
    ColumnFamilyHandle family = db.createColumnFamily(new ColumnFamilyDescriptor(bytes("f")));
    Snapshot snapshot = db.getSnapshot();
    iterator.close();
    fails(IllegalStateException.class, iterator::next);
    fails(IllegalStateException.class, iterator::key);
    batch.close();
    fails(IllegalStateException.class, () -> batch.put(bytes("a"), bytes("b")));
    reading.setSnapshot(snapshot);
    db.releaseSnapshot(snapshot);
    fails(IllegalStateException.class, () -> db.get(reading, bytes("a")));
    reading.close();
    fails(IllegalStateException.class, () -> db.get(reading, bytes("a")));
    db.dropColumnFamily(family);
    family.close();
    fails(IllegalStateException.class, () -> db.get(family, bytes("a")));
    db.close();
    fails(IllegalStateException.class, () -> db.get(bytes("a")));
    fails(IllegalStateException.class, () -> db.put(bytes("a"), bytes("b")));
    fails(IllegalStateException.class, left::seekToFirst);
    fails(IllegalStateException.class, () -> db.getDefaultColumnFamily());
    db.close();
    left.close();
    options.close();
    fails(IllegalStateException.class, () -> options.setCreateIfMissing(false));
    // Nothing holds the lock of the directory.
    try (Options again = new Options(); RocksDB reopened = RocksDB.open(again, dir)) {
      equal(bytes("1"), reopened.get(bytes("a")));
    }
  }

  static void theEnvironmentOfADatabaseEndsWithIt(String dir) throws Exception {
    Env memory = new RocksMemEnv(Env.getDefault());
    Options options = new Options().setCreateIfMissing(true).setEnv(memory);
    RocksDB db = RocksDB.open(options, "/db");
    Env own = db.getEnv();
    equal(own.getNativeHandle(), db.getEnv().getNativeHandle());
    memory.close();
    options.close();
    check(own.getThreadList() != null, "the database keeps it");
    db.close();
    fails(IllegalStateException.class, own::getThreadList);
  }

  static void aDescriptorKeepsTheComparatorAndTheFilterOfItsFamily(String dir) throws Exception {
    ColumnFamilyDescriptor descriptor;
    try (ComparatorOptions how = new ComparatorOptions();
        AbstractComparator backwards = backwards(how);
        RemoveEmptyValueCompactionFilter filter = new RemoveEmptyValueCompactionFilter();
        ColumnFamilyOptions familyOptions =
            new ColumnFamilyOptions().setComparator(backwards).setCompactionFilter(filter);
        Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir)) {
      ColumnFamilyHandle family =
          db.createColumnFamily(new ColumnFamilyDescriptor(bytes("f"), familyOptions));
      db.put(family, bytes("a"), bytes("1"));
      db.put(family, bytes("b"), bytes("1"));
      db.put(family, bytes("c"), new byte[0]);
      descriptor = family.getDescriptor();
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (DBOptions options = new DBOptions();
        RocksDB db = RocksDB.open(options, dir,
            List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY), descriptor),
            handles)) {
      db.compactRange(handles.get(1));
      try (RocksIterator iterator = db.newIterator(handles.get(1))) {
        equal("b a ", keys(iterator));
      }
    }
    descriptor.getOptions().close();
  }

  static void aDescriptorOfADatabaseWithTtlKeepsTheFilter(String dir) throws Exception {
    ColumnFamilyDescriptor descriptor;
    try (RemoveEmptyValueCompactionFilter filter = new RemoveEmptyValueCompactionFilter();
        ColumnFamilyOptions familyOptions = new ColumnFamilyOptions().setCompactionFilter(filter);
        Options options = new Options().setCreateIfMissing(true);
        TtlDB db = TtlDB.open(options, dir, 0, false)) {
      ColumnFamilyHandle family =
          db.createColumnFamilyWithTtl(new ColumnFamilyDescriptor(bytes("f"), familyOptions), 0);
      db.put(family, bytes("a"), bytes("1"));
      db.put(family, bytes("c"), new byte[0]);
      descriptor = family.getDescriptor();
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (DBOptions options = new DBOptions();
        TtlDB db = TtlDB.open(options, dir,
            List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY), descriptor), handles,
            List.of(0, 0), false)) {
      db.compactRange(handles.get(1));
      try (RocksIterator iterator = db.newIterator(handles.get(1))) {
        equal("a ", keys(iterator));
      }
    }
    descriptor.getOptions().close();
  }

  /** While a database is being opened, nothing could keep the comparator. */
  static void aDescriptorThatMayOutliveItsComparatorIsRefused(String dir) throws Exception {
    List<String> outcomes = new ArrayList<>();
    try (AbstractEventListener listener =
             new AbstractEventListener() {
               @Override
               public void onColumnFamilyHandleDeletionStarted(ColumnFamilyHandle handle) {
                 try {
                   handle.getDescriptor().getOptions().close();
                   outcomes.add("a descriptor");
                 } catch (IllegalStateException e) {
                   outcomes.add("refused");
                 } catch (RocksDBException e) {
                   outcomes.add(e.toString());
                 }
               }
             };
        ComparatorOptions how = new ComparatorOptions();
        AbstractComparator backwards = backwards(how);
        Options options =
            new Options().setCreateIfMissing(true).setComparator(backwards).setListeners(
                List.of(listener));
        RocksDB db = RocksDB.open(options, dir)) {
      // The open has closed a handle of the default family before an object for the database
      // existed.
      equal(List.of("refused"), outcomes);
      db.createColumnFamily(new ColumnFamilyDescriptor(bytes("f"))).close();
      equal(List.of("refused", "a descriptor"), outcomes);
    }
  }

  static void disabledFileDeletionsAreCounted(String dir) throws Exception {
    String enabled = "rocksdb.is-file-deletions-enabled";
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir)) {
      db.enableFileDeletions(false);
      db.enableFileDeletions(true);
      equal(1L, db.getLongProperty(enabled));
      for (int i = 0; i < 2; ++i) db.disableFileDeletions();
      equal(0L, db.getLongProperty(enabled));
      db.enableFileDeletions(false);
      equal(0L, db.getLongProperty(enabled));
      db.enableFileDeletions(false);
      equal(1L, db.getLongProperty(enabled));
      for (int i = 0; i < 3; ++i) db.disableFileDeletions();
      db.enableFileDeletions(true);
      equal(1L, db.getLongProperty(enabled));
    }
  }

  static void aFamilyOfAnotherDatabaseIsRefused(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB one = RocksDB.open(options, dir + "1");
        RocksDB two = RocksDB.open(options, dir + "2")) {
      ColumnFamilyHandle family = one.createColumnFamily(new ColumnFamilyDescriptor(bytes("f")));
      fails(IllegalArgumentException.class, () -> two.put(family, bytes("a"), bytes("b")));
    }
  }

  /** Closing waits for the calls that run, and later ones are exceptions; nothing crashes. */
  static void closingWhileOthersReadAndWrite(String dir) throws Exception {
    for (int round = 0; round < 20; ++round) {
      Options options = new Options().setCreateIfMissing(true);
      RocksDB db = RocksDB.open(options, dir);
      AtomicReference<Throwable> failure = new AtomicReference<>();
      AtomicLong done = new AtomicLong();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < 4; ++t) {
        int number = t;
        Thread thread = new Thread(() -> {
          try {
            while (true) {
              byte[] key = bytes("key" + (done.incrementAndGet() % 100));
              if (number % 2 == 0) db.put(key, key);
              byte[] value = db.get(key);
              check(value == null || Arrays.equals(value, key), "a value of another key");
              try (RocksIterator iterator = db.newIterator()) {
                for (iterator.seekToFirst(); iterator.isValid(); iterator.next())
                  equal(iterator.key(), iterator.value());
              }
            }
          } catch (IllegalStateException closed) {
            // The test expects this end.
          } catch (Throwable e) {
            failure.compareAndSet(null, e);
          }
        });
        threads.add(thread);
        thread.start();
      }
      while (done.get() < 200) Thread.onSpinWait();
      db.close();
      for (Thread thread : threads) thread.join();
      if (failure.get() != null) throw new AssertionError(failure.get());
      options.close();
    }
  }

  static void columnFamilies(String dir) throws Exception {
    try (DBOptions options =
             new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
        ColumnFamilyOptions family = new ColumnFamilyOptions()) {
      List<ColumnFamilyDescriptor> descriptors =
          Arrays.asList(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, family),
              new ColumnFamilyDescriptor(bytes("ä"), family));
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      try (RocksDB db = RocksDB.open(options, dir, descriptors, handles)) {
        db.put(handles.get(1), bytes("k"), bytes("v"));
        equal((byte[]) null, db.get(bytes("k")));
        equal(bytes("v"), db.get(handles.get(1), bytes("k")));
        equal("ä", text(handles.get(1).getName()));
        equal(1, handles.get(1).getID());
        equal("ä", text(handles.get(1).getDescriptor().getName()));
        equal(Arrays.asList("v", null),
            texts(db.multiGetAsList(Arrays.asList(handles.get(1), handles.get(0)),
                Arrays.asList(bytes("k"), bytes("k")))));
        try (FlushOptions flush = new FlushOptions()) {
          db.flush(flush, handles);
        }
        db.dropColumnFamily(handles.get(1));
      }
      try (Options all = new Options()) {
        equal(List.of("default"), texts(RocksDB.listColumnFamilies(all, dir)));
      }
    }
  }

  static void aCallNamesAnyNumberOfFamilies(String dir) throws Exception {
    int count = 5000;
    try (DBOptions options =
             new DBOptions().setCreateIfMissing(true).setCreateMissingColumnFamilies(true);
        ColumnFamilyOptions family = new ColumnFamilyOptions();
        FlushOptions flush = new FlushOptions()) {
      // All handles except one are of the second family.
      List<ColumnFamilyDescriptor> descriptors = new ArrayList<>(
          Collections.nCopies(count, new ColumnFamilyDescriptor(bytes("f"), family)));
      descriptors.set(0, new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, family));
      List<ColumnFamilyHandle> handles = new ArrayList<>(), alternating = new ArrayList<>();
      try (RocksDB db = RocksDB.open(options, dir, descriptors, handles)) {
        db.flush(flush, handles);
        db.put(handles.get(0), bytes("k"), bytes("first"));
        db.put(handles.get(1), bytes("k"), bytes("second"));
        List<byte[]> keys = Collections.nCopies(count, bytes("k"));
        for (int i = 0; i < count; ++i) alternating.add(handles.get(i % 2));
        List<String> values = texts(db.multiGetAsList(alternating, keys));
        for (int i = 0; i < count; ++i) equal(i % 2 == 0 ? "first" : "second", values.get(i));
        values = texts(db.multiGetAsList(handles, keys));
        for (int i = 0; i < count; ++i) equal(i == 0 ? "first" : "second", values.get(i));
        List<RocksIterator> iterators = db.newIterators(handles);
        equal(count, iterators.size());
        for (RocksIterator iterator : iterators) iterator.close();
        // No call uses the objects of a long list now.
        for (ColumnFamilyHandle handle : handles) handle.close();
        equal((byte[]) null, db.get(bytes("none")));
      }
    }
  }

  private static List<String> texts(List<byte[]> list) {
    List<String> result = new ArrayList<>();
    for (byte[] bytes : list) result.add(text(bytes));
    return result;
  }

  static void directBuffers(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir); WriteOptions writing = new WriteOptions();
        ReadOptions reading = new ReadOptions()) {
      db.put(writing, direct("key"), direct("value"));
      ByteBuffer value = ByteBuffer.allocateDirect(16);
      equal(5, db.get(reading, direct("key"), value));
      byte[] got = new byte[value.remaining()];
      value.get(got);
      equal(bytes("value"), got);
      equal(RocksDB.NOT_FOUND, db.get(reading, direct("none"), ByteBuffer.allocateDirect(1)));
      try (WriteBatch batch = new WriteBatch()) {
        batch.put(direct("k2"), direct("v2"));
        batch.delete(direct("key"));
        db.write(writing, batch);
      }
      equal((byte[]) null, db.get(bytes("key")));
      try (RocksIterator iterator = db.newIterator()) {
        iterator.seek(direct("k"));
        ByteBuffer key = ByteBuffer.allocateDirect(2);
        equal(2, iterator.key(key));
        ByteBuffer heap = ByteBuffer.allocate(8);
        equal(2, iterator.value(heap));
        equal("v2", new String(heap.array(), 0, 2, UTF_8));
        iterator.seek(ByteBuffer.wrap(bytes("z")));
        check(!iterator.isValid(), "there is no z");
        fails(IllegalStateException.class, iterator::key);
      }
      List<ByteBuffer> values =
          Arrays.asList(ByteBuffer.allocateDirect(8), ByteBuffer.allocateDirect(8));
      List<ByteBufferGetStatus> statuses =
          db.multiGetByteBuffers(Arrays.asList(direct("k2"), direct("none")), values);
      equal(Status.Code.Ok, statuses.get(0).status.getCode());
      equal(Status.Code.NotFound, statuses.get(1).status.getCode());
      // The key is the bytes between the position and the limit.
      ByteBuffer part = direct("--k2--").position(2).limit(4);
      ByteBufferGetStatus ofPart =
          db.multiGetByteBuffers(List.of(part), List.of(ByteBuffer.allocateDirect(8))).get(0);
      equal(Status.Code.Ok, ofPart.status.getCode());
      equal(UTF_8.encode("v2"), ofPart.value);
      fails(IllegalArgumentException.class,
          () -> db.get(reading, ByteBuffer.wrap(bytes("k2")), value));
    }
  }

  /** In RocksDB's library such a key is null, as one that is missing. */
  static void aKeyThatCannotBeReadIsAnException(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir); FlushOptions flush = new FlushOptions();
        ReadOptions cached = new ReadOptions().setReadTier(ReadTier.BLOCK_CACHE_TIER)) {
      db.put(bytes("a"), bytes("1"));
      db.flush(flush);
      List<byte[]> keys = List.of(bytes("a"), bytes("none"));
      RocksDBException incomplete =
          fails(RocksDBException.class, () -> db.multiGetAsList(cached, keys));
      equal(Status.Code.Incomplete, incomplete.getStatus().getCode());
      equal(bytes("1"), db.get(bytes("a")));
      List<byte[]> values = db.multiGetAsList(cached, keys);
      equal(bytes("1"), values.get(0));
      equal((byte[]) null, values.get(1));
    }
  }

  static void batchesSnapshotsAndIterators(String dir) throws Exception {
    try (Options options =
             new Options().setCreateIfMissing(true).setMergeOperator(new StringAppendOperator("-"));
        RocksDB db = RocksDB.open(options, dir);
        WriteOptions writing = new WriteOptions().setSync(true);
        WriteBatch batch = new WriteBatch()) {
      batch.put(bytes("a"), bytes("1"));
      batch.setSavePoint();
      batch.put(bytes("z"), bytes("26"));
      batch.rollbackToSavePoint();
      batch.merge(bytes("m"), bytes("x"));
      batch.merge(bytes("m"), bytes("y"));
      batch.deleteRange(bytes("q"), bytes("r"));
      equal(4, batch.count());
      List<String> seen = new ArrayList<>();
      try (WriteBatch.Handler handler = new Recorder(seen)) {
        batch.iterate(handler);
      }
      equal(List.of("put a 1", "merge m x", "merge m y", "range q r"), seen);
      try (WriteBatch copy = new WriteBatch(batch.data())) {
        db.write(writing, copy);
      }
      equal(bytes("x-y"), db.get(bytes("m")));
      Snapshot snapshot = db.getSnapshot();
      db.put(bytes("a"), bytes("2"));
      try (ReadOptions old = new ReadOptions().setSnapshot(snapshot); Slice upper = new Slice("b");
          ReadOptions bounded = new ReadOptions().setIterateUpperBound(upper)) {
        equal(bytes("1"), db.get(old, bytes("a")));
        equal(bytes("2"), db.get(bytes("a")));
        try (RocksIterator iterator = db.newIterator(bounded)) {
          upper.close();
          iterator.seekToFirst();
          equal(bytes("a"), iterator.key());
          iterator.next();
          check(!iterator.isValid(), "m is above the bound");
          iterator.status();
        }
      }
      db.releaseSnapshot(snapshot);
      check(db.keyMayExist(bytes("a"), null), "a exists");
      Holder<byte[]> holder = new Holder<>();
      check(db.keyMayExist(bytes("a"), holder), "a exists");
      equal(bytes("2"), holder.getValue());
    }
  }

  private static class Recorder extends WriteBatch.Handler {
    private final List<String> seen;

    Recorder(List<String> seen) {
      this.seen = seen;
    }

    @Override
    public void put(int family, byte[] key, byte[] value) {
      put(key, value);
    }
    @Override
    public void put(byte[] key, byte[] value) {
      seen.add("put " + text(key) + " " + text(value));
    }
    @Override
    public void merge(int family, byte[] key, byte[] value) {
      merge(key, value);
    }
    @Override
    public void merge(byte[] key, byte[] value) {
      seen.add("merge " + text(key) + " " + text(value));
    }
    @Override
    public void delete(int family, byte[] key) {
      delete(key);
    }
    @Override
    public void delete(byte[] key) {
      seen.add("delete " + text(key));
    }
    @Override
    public void singleDelete(int family, byte[] key) {}
    @Override
    public void singleDelete(byte[] key) {}
    @Override
    public void deleteRange(int family, byte[] begin, byte[] end) {
      deleteRange(begin, end);
    }
    @Override
    public void deleteRange(byte[] begin, byte[] end) {
      seen.add("range " + text(begin) + " " + text(end));
    }
    @Override
    public void logData(byte[] blob) {}
    @Override
    public void putBlobIndex(int family, byte[] key, byte[] value) {}
    @Override
    public void markBeginPrepare() {}
    @Override
    public void markEndPrepare(byte[] id) {}
    @Override
    public void markNoop(boolean emptyBatch) {}
    @Override
    public void markRollback(byte[] id) {}
    @Override
    public void markCommit(byte[] id) {}
    @Override
    public void markCommitWithTimestamp(byte[] id, byte[] timestamp) {}
  }

  static WriteBatch.Handler recorder(List<String> seen) {
    return new Recorder(seen);
  }

  private static final class Backwards extends AbstractComparator {
    private final AtomicBoolean failing;

    Backwards(ComparatorOptions options, AtomicBoolean failing) {
      super(options);
      this.failing = failing;
    }

    @Override
    public String name() {
      return "test.Backwards";
    }

    @Override
    public int compare(ByteBuffer a, ByteBuffer b) {
      if (failing.get()) throw new IllegalStateException("the comparator fails");
      return b.compareTo(a);
    }
  }

  static AbstractComparator backwards(ComparatorOptions options) {
    return new Backwards(options, new AtomicBoolean());
  }

  static void comparatorsOfJava(String dir) throws Exception {
    for (boolean directBuffers : new boolean[] {true, false}) {
      AtomicBoolean failing = new AtomicBoolean();
      try (ComparatorOptions comparatorOptions =
               new ComparatorOptions().setUseDirectBuffer(directBuffers)) {
        Backwards comparator = new Backwards(comparatorOptions, failing);
        Options options = new Options()
                              .setCreateIfMissing(true)
                              .setComparator(comparator)
                              .setWriteBufferSize(64 << 10);
        RocksDB db = RocksDB.open(options, dir + directBuffers);
        // The database keeps alive what it needs.
        comparator.close();
        options.close();
        for (int i = 0; i < 3000; ++i) db.put(bytes(String.format("key%05d", i)), new byte[100]);
        db.put(new byte[5000], bytes("a long key"));
        db.compactRange();
        try (RocksIterator iterator = db.newIterator()) {
          int count = 0;
          String last = null;
          for (iterator.seekToFirst(); iterator.isValid(); iterator.next(), ++count) {
            String key = text(iterator.key());
            check(last == null || last.compareTo(key) > 0, "descending order");
            last = key;
          }
          equal(3001, count);
        }
        failing.set(true);
        IllegalStateException e =
            fails(IllegalStateException.class, () -> db.get(bytes("key00001")));
        equal("the comparator fails", e.getMessage());
        failing.set(false);
        check(db.get(bytes("key00001")) != null, "it works again");
        db.close();
      }
    }
  }

  /** Of keys of four bytes. It leaves its byte order in the buffers. */
  private static final class LittleEndian extends AbstractComparator {
    LittleEndian(ComparatorOptions options) {
      super(options);
    }

    @Override
    public String name() {
      return "test.LittleEndian";
    }

    @Override
    public int compare(ByteBuffer a, ByteBuffer b) {
      a.order(ByteOrder.LITTLE_ENDIAN);
      b.order(ByteOrder.LITTLE_ENDIAN);
      return Integer.compare(a.getInt(), b.getInt());
    }
  }

  private static void putNumber(RocksDB db, int number) throws RocksDBException {
    byte[] key = ByteBuffer.allocate(4).putInt(number).array();
    db.put(key, key);
  }

  private static List<Integer> numbers(RocksDB db) {
    List<Integer> numbers = new ArrayList<>();
    try (RocksIterator iterator = db.newIterator()) {
      for (iterator.seekToFirst(); iterator.isValid(); iterator.next()) {
        numbers.add(ByteBuffer.wrap(iterator.key()).getInt());
      }
    }
    return numbers;
  }

  static void aComparatorDoesNotGetTheByteOrderOfAnother(String dir) throws Exception {
    List<Integer> numbers = List.of(1, 256, 2, 512, 3, 65536);
    List<Integer> byLittleEndian = List.of(65536, 256, 512, 1, 2, 3),
                  byValue = List.of(1, 2, 3, 256, 512, 65536);
    try (ComparatorOptions how = new ComparatorOptions()) {
      // Two comparators that are used alternately.
      try (LittleEndian littleEndian = new LittleEndian(how);
          IntComparator ofValues = new IntComparator(how);
          Options first = new Options().setCreateIfMissing(true).setComparator(littleEndian);
          Options second = new Options().setCreateIfMissing(true).setComparator(ofValues);
          RocksDB one = RocksDB.open(first, dir + "-one");
          RocksDB two = RocksDB.open(second, dir + "-two")) {
        for (int number : numbers) {
          putNumber(one, number);
          putNumber(two, number);
        }
        equal(byLittleEndian, numbers(one));
        equal(byValue, numbers(two));
      }
      // A comparator that was closed, and whose address the next one may have.
      try (LittleEndian littleEndian = new LittleEndian(how);
          Options options = new Options().setCreateIfMissing(true).setComparator(littleEndian);
          RocksDB db = RocksDB.open(options, dir + "-closed")) {
        for (int number : numbers) putNumber(db, number);
        equal(byLittleEndian, numbers(db));
      }
      try (IntComparator ofValues = new IntComparator(how);
          Options options = new Options().setCreateIfMissing(true).setComparator(ofValues);
          RocksDB db = RocksDB.open(options, dir + "-next")) {
        for (int number : numbers) putNumber(db, number);
        equal(byValue, numbers(db));
      }
    }
  }

  /** The number of Java's threads that the library attached and has not detached. */
  private static long attachedThreads() {
    return Thread.getAllStackTraces()
        .keySet()
        .stream()
        .filter(thread -> thread.getName().equals("ashlar"))
        .count();
  }

  /**
   * Uses a comparator and closes a database. Returns the folder of /proc that its thread of the
   * system has.
   */
  private static Path compareAndClose(String dir) throws Exception {
    try (ComparatorOptions how = new ComparatorOptions();
        AbstractComparator backwards = backwards(how);
        Options options = new Options().setCreateIfMissing(true).setComparator(backwards);
        RocksDB db = RocksDB.open(options, dir)) {
      for (String key : List.of("a", "b", "c")) db.put(bytes(key), bytes(key));
      return Path.of("/proc").resolve(Files.readSymbolicLink(Path.of("/proc/thread-self")));
    }
  }

  static void threadsThatUsedAComparatorAreDetached(String dir) throws Exception {
    int count = 16;
    long before = attachedThreads();
    for (int i = 0; i < count; ++i) {
      String own = dir + "-" + i;
      FutureTask<Path> task = new FutureTask<>(() -> compareAndClose(own));
      Thread thread = new Thread(task);
      thread.start();
      thread.join();
      // The system's thread ends after Java's, and its thread-local variables with it.
      while (Files.exists(task.get())) Thread.onSpinWait();
    }
    // A thread of the engine may have been attached meanwhile and stays attached until it ends.
    long more = attachedThreads() - before;
    check(more < count, more + " threads are attached after " + count + " that ended");
  }

  static void compactionFiltersAndLoggers(String dir) throws Exception {
    AtomicLong messages = new AtomicLong();
    AtomicLong filters = new AtomicLong();
    try (Options options = new Options().setCreateIfMissing(true)) {
      AbstractCompactionFilterFactory<RemoveEmptyValueCompactionFilter> factory =
          new AbstractCompactionFilterFactory<>() {
            @Override
            public RemoveEmptyValueCompactionFilter createCompactionFilter(
                AbstractCompactionFilter.Context context) {
              filters.incrementAndGet();
              return new RemoveEmptyValueCompactionFilter();
            }
            @Override
            public String name() {
              return "test.Factory";
            }
          };
      options.setCompactionFilterFactory(factory);
      Logger logger = new Logger(options) {
        @Override
        protected void log(InfoLogLevel level, String message) {
          messages.incrementAndGet();
        }
      };
      options.setLogger(logger);
      try (RocksDB db = RocksDB.open(options, dir)) {
        db.put(bytes("a"), new byte[0]);
        db.put(bytes("b"), bytes("1"));
        try (FlushOptions flush = new FlushOptions();
            CompactRangeOptions forced = new CompactRangeOptions()) {
          db.flush(flush);
          forced.setBottommostLevelCompaction(CompactRangeOptions.BottommostLevelCompaction.kForce);
          db.compactRange(null, null, null, forced);
        }
        equal((byte[]) null, db.get(bytes("a")));
        equal(bytes("1"), db.get(bytes("b")));
      }
      check(filters.get() > 0, "the factory was called");
      check(messages.get() > 0, "the logger was called");
      factory.close();
      logger.close();
    }
  }

  private static String keys(RocksIterator iterator) throws RocksDBException {
    StringBuilder keys = new StringBuilder();
    for (iterator.seekToFirst(); iterator.isValid(); iterator.next())
      keys.append(text(iterator.key())).append(' ');
    iterator.status();
    return keys.toString();
  }

  static void filtersOfTables(String dir) throws Exception {
    List<Long> asked = new ArrayList<>();
    AtomicLong unwanted = new AtomicLong(1);
    AbstractTableFilter filter = new AbstractTableFilter() {
      @Override
      public boolean filter(TableProperties table) {
        asked.add(table.getNumEntries());
        return table.getNumEntries() != unwanted.get();
      }
    };
    AbstractTableFilter failing = new AbstractTableFilter() {
      @Override
      public boolean filter(TableProperties table) {
        throw new IllegalStateException("the filter fails");
      }
    };
    ReadOptions reading = new ReadOptions().setTableFilter(filter);
    try (Options options = new Options().setCreateIfMissing(true).setDisableAutoCompactions(true);
        FlushOptions flush = new FlushOptions(); RocksDB db = RocksDB.open(options, dir)) {
      db.put(bytes("a"), bytes("1"));
      db.put(bytes("b"), bytes("1"));
      db.flush(flush);
      db.put(bytes("c"), bytes("1"));
      db.flush(flush);
      db.put(bytes("d"), bytes("1"));
      equal(bytes("1"), db.get(reading, bytes("c")));
      equal(0, asked.size());
      RocksIterator iterator = db.newIterator(reading);
      RocksIterator ofCopy = db.newIterator(new ReadOptions(reading));
      reading.close();
      filter.close();
      fails(IllegalStateException.class, () -> new ReadOptions().setTableFilter(filter));
      equal("a b d ", keys(iterator));
      check(asked.contains(1L) && asked.contains(2L), "both tables: " + asked);
      unwanted.set(2);
      equal("c d ", keys(ofCopy));
      try (ReadOptions withFailing = new ReadOptions().setTableFilter(failing);
          RocksIterator broken = db.newIterator(withFailing)) {
        equal("the filter fails",
            fails(IllegalStateException.class, broken::seekToFirst).getMessage());
      }
    }
    failing.close();
  }

  /**
   * Decides about batches by their first key: "ignored", "changed", "failing"; others are applied.
   */
  private static final class TestWalFilter extends AbstractWalFilter {
    final Map<Integer, Long> logs = new TreeMap<>();
    final Map<String, Integer> families = new TreeMap<>();
    final List<String> found = new ArrayList<>();
    WriteBatch last;

    @Override
    public void columnFamilyLogNumberMap(Map<Integer, Long> numbers, Map<String, Integer> ids) {
      logs.putAll(numbers);
      families.putAll(ids);
    }

    @Override
    public LogRecordFoundResult logRecordFound(
        long number, String file, WriteBatch batch, WriteBatch newBatch) {
      check(file.endsWith(".log"), file);
      last = batch;
      try {
        String key = firstKey(batch);
        found.add(key);
        if (key.equals("failing")) throw new IllegalStateException("the filter fails");
        if (key.equals("ignored"))
          return new LogRecordFoundResult(WalProcessingOption.IGNORE_CURRENT_RECORD, false);
        if (!key.equals("changed")) return LogRecordFoundResult.CONTINUE_UNCHANGED;
        newBatch.put(bytes("changed"), bytes("by the filter"));
        return new LogRecordFoundResult(WalProcessingOption.CONTINUE_PROCESSING, true);
      } catch (RocksDBException e) {
        throw new AssertionError(e);
      }
    }

    private static String firstKey(WriteBatch batch) throws RocksDBException {
      byte[] data = batch.data();  // sequence, count, type, length of the key
      return new String(data, 14, data[13], UTF_8);
    }

    @Override
    public String name() {
      return "test.WalFilter";
    }
  }

  static void filtersOfLogs(String dir) throws Exception {
    TestWalFilter filter = new TestWalFilter();
    try (DBOptions plain =
             new DBOptions().setCreateIfMissing(true).setAvoidFlushDuringShutdown(true);
        DBOptions filtering = new DBOptions(plain).setWalFilter(filter);
        ColumnFamilyOptions family = new ColumnFamilyOptions();
        Options joined = new Options(filtering, family);
        Options unfiltered = new Options(plain, family)) {
      try (RocksDB db = RocksDB.open(unfiltered, dir)) {
        for (String key : List.of("plain", "ignored", "changed"))
          db.put(bytes(key), bytes("written"));
      }
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      try (RocksDB db = RocksDB.open(filtering, dir,
               List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, family)),
               handles)) {
        equal(List.of("plain", "ignored", "changed"), filter.found);
        equal(bytes("written"), db.get(bytes("plain")));
        equal((byte[]) null, db.get(bytes("ignored")));
        equal(bytes("by the filter"), db.get(bytes("changed")));
        equal(Map.of("default", 0), filter.families);
        check(filter.logs.containsKey(0), "the log of the default family: " + filter.logs);
        fails(IllegalStateException.class, () -> filter.last.count());
        db.put(bytes("failing"), bytes("written"));
      }
      filter.close();  // the options keep it
      for (int round = 0; round < 2; ++round) {
        equal("the filter fails",
            fails(IllegalStateException.class, () -> RocksDB.open(joined, dir)).getMessage());
      }
      equal(List.of("plain", "ignored", "changed", "failing", "failing"), filter.found);
      try (RocksDB db = RocksDB.open(unfiltered, dir)) {
        equal(bytes("written"), db.get(bytes("failing")));
      }
    }
  }

  static void batchesEndInTheLogAtTheirTerminationPoint(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true).setAvoidFlushDuringShutdown(true);
        WriteOptions writing = new WriteOptions(); WriteBatch batch = new WriteBatch()) {
      check(batch.getWalTerminationPoint().isCleared(), "there is none");
      batch.put(bytes("logged"), bytes("1"));
      batch.markWalTerminationPoint();
      WriteBatch.SavePoint point = batch.getWalTerminationPoint();
      equal(batch.getDataSize(), point.getSize());
      equal(1L, point.getCount());
      equal(2L, point.getContentFlags());  // a put
      batch.put(bytes("unlogged"), bytes("2"));
      try (RocksDB db = RocksDB.open(options, dir)) {
        db.write(writing, batch);
        equal(bytes("2"), db.get(bytes("unlogged")));
      }
      try (RocksDB db = RocksDB.open(options, dir)) {
        equal(bytes("1"), db.get(bytes("logged")));
        equal((byte[]) null, db.get(bytes("unlogged")));
      }
      batch.clear();
      check(batch.getWalTerminationPoint().isCleared(), "it was cleared");
    }
  }

  private static String levels(RocksDB db) {
    int[] tables = new int[7];
    for (LiveFileMetaData file : db.getLiveFilesMetaData()) ++tables[file.level()];
    return Arrays.toString(tables);
  }

  static void tablesByLevelAndName(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true).setDisableAutoCompactions(true);
        FlushOptions flush = new FlushOptions(); RocksDB db = RocksDB.open(options, dir)) {
      for (String key : List.of("a", "b", "c")) {
        db.put(bytes(key), bytes("1"));
        db.flush(flush);
      }
      db.promoteL0(2);
      equal("[0, 0, 3, 0, 0, 0, 0]", levels(db));
      db.put(bytes("b"), bytes("2"));
      db.flush(flush);
      equal(Status.Code.InvalidArgument,
          fails(RocksDBException.class, () -> db.promoteL0(db.getDefaultColumnFamily(), 2))
              .getStatus()
              .getCode());
      equal(Status.Code.InvalidArgument,
          fails(RocksDBException.class, () -> db.promoteL0(0)).getStatus().getCode());
      db.promoteL0(db.getDefaultColumnFamily(), 1);
      equal("[0, 1, 3, 0, 0, 0, 0]", levels(db));
      equal(bytes("2"), db.get(bytes("b")));
      for (LiveFileMetaData file : db.getLiveFilesMetaData()) {
        // A table that hides an older version cannot be deleted.
        if (file.level() == 1) fails(RocksDBException.class, () -> db.deleteFile(file.fileName()));
        if (file.level() == 2 && text(file.smallestKey()).equals("a"))
          db.deleteFile(file.fileName());
      }
      equal("[0, 1, 2, 0, 0, 0, 0]", levels(db));
      equal((byte[]) null, db.get(bytes("a")));
      equal(bytes("2"), db.get(bytes("b")));
      equal(Status.Code.InvalidArgument,
          fails(RocksDBException.class, () -> db.deleteFile("CURRENT")).getStatus().getCode());
    }
  }

  static void optionsKeepWhatIsSet(String dir) throws Exception {
    try (Options o = new Options()) {
      o.setWriteBufferSize(1 << 20).setMaxOpenFiles(100).setCompressionType(
          CompressionType.LZ4_COMPRESSION);
      o.setCompressionPerLevel(
          Arrays.asList(CompressionType.NO_COMPRESSION, CompressionType.ZSTD_COMPRESSION));
      o.setBottommostCompressionType(CompressionType.DISABLE_COMPRESSION_OPTION).setWalDir("/wal");
      o.setMaxBytesForLevelMultiplierAdditional(new int[] {2, 3})
          .setTtl(5)
          .setWalRecoveryMode(WALRecoveryMode.AbsoluteConsistency);
      o.setTableFormatConfig(new BlockBasedTableConfig().setBlockSize(8192).setFilterPolicy(
          new BloomFilter(10, false)));
      o.setMemTableConfig(new SkipListMemTableConfig());
      equal(1L << 20, o.writeBufferSize());
      equal(100, o.maxOpenFiles());
      equal(CompressionType.LZ4_COMPRESSION, o.compressionType());
      equal(Arrays.asList(CompressionType.NO_COMPRESSION, CompressionType.ZSTD_COMPRESSION),
          o.compressionPerLevel());
      equal(CompressionType.DISABLE_COMPRESSION_OPTION, o.bottommostCompressionType());
      equal("/wal", o.walDir());
      equal("[2, 3]", Arrays.toString(o.maxBytesForLevelMultiplierAdditional()));
      equal(5L, o.ttl());
      equal(WALRecoveryMode.AbsoluteConsistency, o.walRecoveryMode());
      equal("BlockBasedTable", o.tableFactoryName());
      equal("SkipListFactory", o.memTableFactoryName());
      try (Options copy = new Options(o)) {
        equal(1L << 20, copy.writeBufferSize());
      }
      o.optimizeUniversalStyleCompaction(4 << 20).oldDefaults(5, 0);
      equal(CompactionStyle.UNIVERSAL, o.compactionStyle());
      equal(1L << 20, o.writeBufferSize());
      equal(30, o.level0StopWritesTrigger());
      equal(5000, o.maxOpenFiles());
    }
    try (ColumnFamilyOptions o =
             new ColumnFamilyOptions().optimizeUniversalStyleCompaction(8 << 20)) {
      equal(2L << 20, o.writeBufferSize());
      equal(4L << 20, o.oldDefaults(4, 6).writeBufferSize());
      equal(24, o.level0StopWritesTrigger());
    }
    fails(UnsupportedOperationException.class,
        ()
            -> new Options().setTableFormatConfig(
                new BlockBasedTableConfig().setBlockCacheCompressedSize(1 << 20)));
  }

  static void statisticsAndProperties(String dir) throws Exception {
    try (Statistics statistics = new Statistics();
        Options options = new Options().setCreateIfMissing(true).setStatistics(statistics);
        RocksDB db = RocksDB.open(options, dir)) {
      for (int i = 0; i < 10; ++i) db.put(bytes("k" + i), bytes("v"));
      db.get(bytes("k1"));
      equal(10L, statistics.getTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      check(statistics.getHistogramData(HistogramType.DB_GET).getCount() > 0, "reads are timed");
      equal(10L, statistics.getAndResetTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      equal(0L, statistics.getTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      equal(10L, db.getLongProperty("rocksdb.estimate-num-keys"));
      equal(Status.Code.NotFound,
          fails(RocksDBException.class, () -> db.getProperty("none")).getStatus().getCode());
      check(db.getDBOptions() != null && db.getOptions() != null, "options");
      equal(10L, db.getLatestSequenceNumber());
      try (FlushOptions flush = new FlushOptions()) {
        db.flush(flush);
      }
      equal(1, db.getLiveFilesMetaData().size());
      equal(1L, db.getColumnFamilyMetaData().fileCount());
      equal(1, db.getPropertiesOfAllTables().size());
      db.setOptions(MutableColumnFamilyOptions.builder().setWriteBufferSize(2 << 20).build());
      check(MemoryUtil.getApproximateMemoryUsageByType(List.of(db), null)
                  .get(MemoryUsageType.kMemTableTotal)
              > 0,
          "memory");
    }
  }

  static void checkpointsAndBackups(String dir) throws Exception {
    Files.createDirectories(Path.of(dir + "-backups"));
    try (Options options = new Options().setCreateIfMissing(true);
        BackupEngineOptions backups = new BackupEngineOptions(dir + "-backups")) {
      try (RocksDB db = RocksDB.open(options, dir)) {
        db.put(bytes("a"), bytes("1"));
        try (Checkpoint checkpoint = Checkpoint.create(db)) {
          checkpoint.createCheckpoint(dir + "-checkpoint");
        }
        try (BackupEngine engine = BackupEngine.open(Env.getDefault(), backups)) {
          engine.createNewBackupWithMetadata(db, "note", true);
          equal(1, engine.getBackupInfo().size());
          equal("note", engine.getBackupInfo().get(0).appMetadata());
        }
      }
      try (RocksDB copy = RocksDB.openReadOnly(options, dir + "-checkpoint")) {
        equal(bytes("1"), copy.get(bytes("a")));
        fails(RocksDBException.class, () -> copy.put(bytes("a"), bytes("2")));
      }
      RocksDB.destroyDB(dir, options);
      try (BackupEngine engine = BackupEngine.open(Env.getDefault(), backups);
          RestoreOptions restore = new RestoreOptions(false)) {
        engine.restoreDbFromLatestBackup(dir, dir, restore);
      }
      try (RocksDB db = RocksDB.open(options, dir)) {
        equal(bytes("1"), db.get(bytes("a")));
      }
    }
  }

  static void updatesSinceASequence(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir)) {
      db.put(bytes("a"), bytes("1"));
      try (WriteBatch batch = new WriteBatch(); WriteOptions write = new WriteOptions()) {
        batch.put(bytes("b"), bytes("2"));
        batch.delete(bytes("a"));
        db.write(write, batch);
      }
      equal(1, db.getSortedWalFiles().size());
      equal(WalFileType.kAliveLogFile, db.getSortedWalFiles().get(0).type());
      equal(1L, db.getSortedWalFiles().get(0).startSequence());
      try (TransactionLogIterator updates = db.getUpdatesSince(2)) {
        check(updates.isValid(), "at the batch of the sequence");
        TransactionLogIterator.BatchResult result = updates.getBatch();
        equal(2L, result.sequenceNumber());
        List<String> seen = new ArrayList<>();
        try (WriteBatch batch = result.writeBatch(); Recorder recorder = new Recorder(seen)) {
          equal(2, batch.count());
          batch.iterate(recorder);
        }
        equal(List.of("put b 2", "delete a"), seen);
        fails(IllegalStateException.class, updates::getBatch);
        updates.next();
        check(!updates.isValid(), "has caught up");
        updates.status();
        fails(IllegalStateException.class, updates::getBatch);
        db.put(bytes("c"), bytes("3"));
        updates.next();
        equal(4L, updates.getBatch().sequenceNumber());
      }
      fails(RocksDBException.class, () -> db.getUpdatesSince(100));
      TransactionLogIterator left = db.getUpdatesSince(1);
      db.close();
      fails(IllegalStateException.class, left::isValid);
      left.close();
    }
  }

  static void valuesWithTimeToLive(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true)) {
      try (TtlDB db = TtlDB.open(options, dir, 3600, false)) {
        db.put(bytes("a"), bytes("1"));
        equal(bytes("1"), db.get(bytes("a")));
        try (ColumnFamilyOptions own = new ColumnFamilyOptions();
            ColumnFamilyHandle family =
                db.createColumnFamilyWithTtl(new ColumnFamilyDescriptor(bytes("f"), own), 10)) {
          db.put(family, bytes("b"), bytes("22"));
          equal(bytes("22"), db.get(family, bytes("b")));
        }
      }
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      try (DBOptions plain = new DBOptions(); ColumnFamilyOptions own = new ColumnFamilyOptions()) {
        List<ColumnFamilyDescriptor> families =
            List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, own),
                new ColumnFamilyDescriptor(bytes("f"), own));
        try (TtlDB db = TtlDB.open(plain, dir, families, handles, List.of(3600, 10), true)) {
          equal(bytes("1"), db.get(handles.get(0), bytes("a")));
          equal(bytes("22"), db.get(handles.get(1), bytes("b")));
          fails(RocksDBException.class, () -> db.put(bytes("a"), bytes("2")));
        }
        handles.clear();
        // Each value ends with the second in which it was written.
        try (RocksDB db = RocksDB.openReadOnly(plain, dir, families, handles)) {
          equal(1 + 4, db.get(handles.get(0), bytes("a")).length);
        }
      }
    }
  }

  private static void delete(Path path) throws Exception {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator)
        Files.delete(file);
    }
  }

  private static String ownLibrary() throws Exception {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(line -> line.contains("jni") && line.contains("/"))
          .map(line -> line.substring(line.indexOf('/')))
          .distinct()
          .reduce("", (a, b) -> a + " " + b)
          .trim();
    }
  }

  static void closingInsideACallbackIsAnException(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir); WriteBatch batch = new WriteBatch()) {
      batch.put(bytes("a"), bytes("1"));
      batch.put(bytes("b"), bytes("2"));
      int[] closed = {0};
      try (Recorder handler = new Recorder(new ArrayList<>()) {
        @Override
        public void put(byte[] key, byte[] value) {
          if (closed[0]++ == 0) fails(IllegalStateException.class, batch::close);
        }
      }) {
        batch.iterate(handler);
      }
      equal(2, closed[0]);
    }
  }

  // The engine logs after the comparison, in the same thread.
  static void aLoggerKeepsTheExceptionOfAComparator(String dir) throws Exception {
    AtomicBoolean failing = new AtomicBoolean();
    try (ComparatorOptions how = new ComparatorOptions();
        Backwards backwards = new Backwards(how, failing);
        Options options = new Options().setCreateIfMissing(true).setComparator(backwards);
        Logger logger = new Logger(options) {
          @Override
          protected void log(InfoLogLevel level, String message) {}
        }) {
      options.setLogger(logger);
      try (RocksDB db = RocksDB.open(options, dir)) {
        db.put(bytes("a"), bytes("1"));
        db.put(bytes("b"), bytes("1"));
      }
      failing.set(true);
      IllegalStateException failure =
          fails(IllegalStateException.class, () -> RocksDB.open(options, dir).close());
      equal("the comparator fails", failure.getMessage());
      failing.set(false);
    }
  }

  static void theSpaceOfTables(String dir) throws Exception {
    try (Options options = new Options(); Logger logger = new Logger(options) {
      @Override
      protected void log(InfoLogLevel level, String message) {}
    }; SstFileManager paced = new SstFileManager(Env.getDefault(), logger, 1000)) {
      equal(1000L, paced.getDeleteRateBytesPerSecond());
      equal(SstFileManager.MAX_TRASH_DB_RATION_DEFAULT, paced.getMaxTrashDBRatio());
      equal(0, paced.getTrackedFiles().size());
    }
    SstFileManager manager = new SstFileManager(Env.getDefault(), null, 0, 0.5, 1 << 20);
    try (Options options = new Options().setCreateIfMissing(true).setSstFileManager(manager);
        DBOptions dbOptions = new DBOptions().setSstFileManager(manager);
        FlushOptions flush = new FlushOptions().setWaitForFlush(true);
        RocksDB db = RocksDB.open(options, dir)) {
      equal(0L, manager.getTotalSize());
      db.put(bytes("a"), new byte[10000]);
      db.flush(flush);
      Map<String, Long> files = manager.getTrackedFiles();
      equal(1, files.size());
      Map.Entry<String, Long> table = files.entrySet().iterator().next();
      check(table.getKey().endsWith(".sst"), table.getKey());
      equal(Files.size(Path.of(table.getKey())), table.getValue());
      equal(table.getValue(), manager.getTotalSize());
      check(!manager.isMaxAllowedSpaceReached(), "there is no limit");
      manager.setMaxAllowedSpaceUsage(table.getValue());
      check(manager.isMaxAllowedSpaceReached(), "the table is as large as the limit");
      manager.setMaxAllowedSpaceUsage(table.getValue() + 1);
      check(!manager.isMaxAllowedSpaceReachedIncludingCompactions(), "one byte is left");
      fails(IllegalArgumentException.class, () -> manager.setMaxAllowedSpaceUsage(-1));
      fails(IllegalArgumentException.class, () -> manager.setCompactionBufferSize(-1));
      manager.setCompactionBufferSize(100);
      equal(0L, manager.getDeleteRateBytesPerSecond());
      manager.setDeleteRateBytesPerSecond(1 << 30);
      equal(1L << 30, manager.getDeleteRateBytesPerSecond());
      equal(0.5, manager.getMaxTrashDBRatio());
      manager.setMaxTrashDBRatio(0.75);
      equal(0.75, manager.getMaxTrashDBRatio());
      // A second database uses the same manager through DBOptions.
      manager.setMaxAllowedSpaceUsage(0);
      dbOptions.setCreateIfMissing(true);
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      try (RocksDB second = RocksDB.open(dbOptions, dir + "2",
               List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY)), handles)) {
        second.put(bytes("a"), new byte[10000]);
        second.flush(flush);
        // The obsolete log may be trash for a moment.
        Map<String, Long> tracked = manager.getTrackedFiles();
        equal(2L, tracked.keySet().stream().filter(file -> file.endsWith(".sst")).count());
        check(manager.getTotalSize() > table.getValue(), "both tables count");
      }
      manager.close();  // the database keeps it
      fails(IllegalStateException.class, manager::getTotalSize);
      db.put(bytes("b"), bytes("2"));
    }
  }

  static void rateLimitersHaveModes(String dir) throws Exception {
    for (RateLimiterMode mode : RateLimiterMode.values()) {
      try (RateLimiter limiter = new RateLimiter(1 << 30, 100000, 10, mode, false);
          Options options = new Options().setCreateIfMissing(true).setRateLimiter(limiter);
          RocksDB db = RocksDB.open(options, dir + mode.name());
          FlushOptions wait = new FlushOptions()) {
        db.put(bytes("a"), bytes("1"));
        db.flush(wait);
        check(limiter.getTotalBytesThrough() > 0 == (mode != RateLimiterMode.READS_ONLY),
            "writes wait by the mode");
      }
    }
    try (RateLimiter tuned = new RateLimiter(1 << 20, 100000, 10, RateLimiterMode.ALL_IO, true)) {
      equal(1L << 19, tuned.getBytesPerSecond());
      tuned.request(100);
      equal(100L, tuned.getTotalBytesThrough());
      equal(1L, tuned.getTotalRequests());
    }
  }

  static void theMemoryOfMemTables(String dir) throws Exception {
    try (Cache cache = new LRUCache(64 << 20)) {
      WriteBufferManager manager = new WriteBufferManager(1 << 20, cache, true);
      check(manager.allowStall(), "as asked for");
      fails(IllegalArgumentException.class, () -> new WriteBufferManager(-1, cache));
      try (Options options = new Options().setCreateIfMissing(true).setWriteBufferManager(manager);
          DBOptions dbOptions =
              new DBOptions().setCreateIfMissing(true).setWriteBufferManager(manager);
          ColumnFamilyOptions familyOptions = new ColumnFamilyOptions();
          RocksDB db = RocksDB.open(options, dir)) {
        manager.close();  // the databases keep it
        List<ColumnFamilyHandle> handles = new ArrayList<>();
        List<ColumnFamilyDescriptor> families =
            List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, familyOptions));
        try (RocksDB second = RocksDB.open(dbOptions, dir + "2", families, handles)) {
          for (int i = 0; i < 2000; ++i) {
            db.put(bytes("k" + i), new byte[1000]);
            second.put(bytes("k" + i), new byte[1000]);
            check(cache.getUsage() <= 2 << 20, "the memtables of both stay within the limit");
          }
          check(cache.getUsage() > 0, "the cache is charged");
          check(db.getLongProperty("rocksdb.total-sst-files-size") > 0, "memtables were flushed");
          check(second.getLongProperty("rocksdb.total-sst-files-size") > 0, "in both");
          equal(1000, second.get(bytes("k0")).length);
        }
      }
      equal(0L, cache.getUsage());
    }
  }

  /** Open descriptors of the file in this process. */
  private static long descriptorsOf(String file) throws Exception {
    Path path = Path.of(file).toRealPath();
    try (Stream<Path> all = Files.list(Path.of("/proc/self/fd"))) {
      return all
          .filter(descriptor -> {
            try {
              return path.equals(Files.readSymbolicLink(descriptor));
            } catch (java.io.IOException closed) {
              return false;
            }
          })
          .count();
    }
  }

  /** A reader that is closed while its iterator compares keys stays open. */
  static void aReaderIsNotClosedInsideACallOfItsIterator(String dir) throws Exception {
    Files.createDirectories(Path.of(dir));
    String file = Path.of(dir, "table.sst").toString();
    Runnable[] inComparison = {() -> {}};
    try (ComparatorOptions how = new ComparatorOptions();
        AbstractComparator comparator =
            new AbstractComparator(how) {
              @Override
              public String name() {
                return "test.Callback";
              }
              @Override
              public int compare(ByteBuffer a, ByteBuffer b) {
                inComparison[0].run();
                return a.compareTo(b);
              }
            };
        Options options = new Options().setComparator(comparator);
        EnvOptions files = new EnvOptions();
        SstFileWriter writer = new SstFileWriter(files, options);
        ReadOptions reading = new ReadOptions()) {
      writer.open(file);
      writer.put(bytes("a"), bytes("1"));
      writer.put(bytes("b"), bytes("2"));
      writer.finish();
      SstFileReader reader = new SstFileReader(options);
      reader.open(file);
      SstFileReaderIterator iterator = reader.newIterator(reading);
      List<String> outcomes = new ArrayList<>();
      inComparison[0] = () -> {
        if (!outcomes.isEmpty()) return;
        outcomes.add("closed");
        fails(IllegalStateException.class, reader::close);
        outcomes.set(0, "refused");
      };
      iterator.seek(bytes("b"));
      inComparison[0] = () -> {};
      equal(List.of("refused"), outcomes);
      equal(bytes("b"), iterator.key());
    }
  }

  static void tablesFromOutside(String dir) throws Exception {
    Files.createDirectories(Path.of(dir));
    String file = Path.of(dir, "table.sst").toString();
    try (Options options =
             new Options().setCreateIfMissing(true).setMergeOperatorName("stringappend");
        DBOptions of = new DBOptions();
        EnvOptions files = new EnvOptions(of).setBytesPerSync(1 << 20).setUseDirectWrites(false);
        RateLimiter limiter = new RateLimiter(1 << 30)) {
      equal(1L << 20, files.bytesPerSync());
      files.setRateLimiter(limiter);
      try (SstFileWriter writer = new SstFileWriter(files, options); Slice slice = new Slice("b");
          Slice value = new Slice("2")) {
        fails(RocksDBException.class, () -> writer.put(bytes("a"), bytes("1")));
        writer.open(file);
        writer.put(bytes("a"), bytes("1"));
        writer.put(slice, value);
        writer.put(direct("c"), direct("3"));
        writer.merge(bytes("d"), bytes("4"));
        writer.delete(bytes("e"));
        RocksDBException descending =
            fails(RocksDBException.class, () -> writer.put(bytes("a"), bytes("1")));
        equal(Status.Code.InvalidArgument, descending.getStatus().getCode());
        writer.finish();
        check(writer.fileSize() > 0, "the file has bytes");
      }
      SstFileReader reader = new SstFileReader(options);
      fails(IllegalStateException.class, reader::getTableProperties);
      reader.open(file);
      reader.verifyChecksum();
      equal(5L, reader.getTableProperties().getNumEntries());
      SstFileReaderIterator it;
      try (ReadOptions read = new ReadOptions(); Slice upper = new Slice("d")) {
        read.setIterateUpperBound(upper);
        it = reader.newIterator(read);
      }
      List<String> found = new ArrayList<>();
      for (it.seekToFirst(); it.isValid(); it.next()) found.add(text(it.key()) + text(it.value()));
      it.status();
      equal(List.of("a1", "b2", "c3"), found);
      it.seekForPrev(bytes("bb"));
      equal(bytes("b"), it.key());
      reader.close();
      // The classes do not forward the close of an iterator whose reader is closed.
      fails(IllegalStateException.class, it::isValid);
      it.close();
      equal(0L, descriptorsOf(file));
      fails(IllegalStateException.class, reader::verifyChecksum);

      try (RocksDB db = RocksDB.open(options, dir + "/db");
          IngestExternalFileOptions ingest =
              new IngestExternalFileOptions(false, true, true, true)) {
        db.put(bytes("e"), bytes("old"));
        check(ingest.allowGlobalSeqNo() && !ingest.moveFiles(), "what the constructor was given");
        ingest.setMoveFiles(true);
        db.ingestExternalFile(List.of(file), ingest);
        check(!Files.exists(Path.of(file)), "the file was moved");
        equal(bytes("1"), db.get(bytes("a")));
        equal(bytes("4"), db.get(bytes("d")));
        equal((byte[]) null, db.get(bytes("e")));
        RocksDBException missing =
            fails(RocksDBException.class, () -> db.ingestExternalFile(List.of(file), ingest));
        check(missing.getMessage().contains("table.sst"), missing.getMessage());
      }
    }
    // A table in another order, written with a Java comparator.
    try (ComparatorOptions how = new ComparatorOptions();
        Backwards backwards = new Backwards(how, new AtomicBoolean());
        Options options = new Options().setCreateIfMissing(true).setComparator(backwards);
        EnvOptions files = new EnvOptions();
        SstFileWriter writer = new SstFileWriter(files, options); Options usual = new Options();
        SstFileReader reader = new SstFileReader(usual)) {
      writer.open(file);
      writer.put(bytes("b"), bytes("2"));
      writer.put(bytes("a"), bytes("1"));
      writer.finish();
      RocksDBException foreign = fails(RocksDBException.class, () -> reader.open(file));
      equal(Status.Code.InvalidArgument, foreign.getStatus().getCode());
      try (RocksDB db = RocksDB.open(options, dir + "/backwards");
          IngestExternalFileOptions ingest = new IngestExternalFileOptions()) {
        db.ingestExternalFile(List.of(file), ingest);
        equal(bytes("2"), db.get(bytes("b")));
      }
    }
  }

  static void tablesCutAtPrefixes(String dir) throws Exception {
    try (SstPartitionerFixedPrefixFactory byPrefix = new SstPartitionerFixedPrefixFactory(1);
        Options options = new Options().setCreateIfMissing(true).setSstPartitionerFactory(byPrefix);
        RocksDB db = RocksDB.open(options, dir); FlushOptions flush = new FlushOptions()) {
      for (String key : List.of("a1", "a2", "b1", "c1")) db.put(bytes(key), bytes("v"));
      db.flush(flush);
      for (String key : List.of("a1", "c2")) db.put(bytes(key), bytes("w"));
      db.flush(flush);
      db.compactRange();
      equal(3, db.getLiveFilesMetaData().size());
    }
  }

  static void aSecondaryFollowsItsPrimary(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB primary = RocksDB.open(options, dir)) {
      ColumnFamilyHandle family =
          primary.createColumnFamily(new ColumnFamilyDescriptor(bytes("f")));
      primary.put(bytes("a"), bytes("1"));
      primary.put(family, bytes("b"), bytes("2"));
      List<ColumnFamilyHandle> handles = new ArrayList<>();
      try (RocksDB secondary = RocksDB.openAsSecondary(options, dir, dir + "-one");
          DBOptions plain = new DBOptions(); ColumnFamilyOptions own = new ColumnFamilyOptions();
          RocksDB both = RocksDB.openAsSecondary(plain, dir, dir + "-two",
              List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, own),
                  new ColumnFamilyDescriptor(bytes("f"), own)),
              handles)) {
        equal(bytes("1"), secondary.get(bytes("a")));
        check(secondary.getSnapshot() == null, "a secondary has no snapshots");
        equal(bytes("2"), both.get(handles.get(1), bytes("b")));
        primary.put(bytes("a"), bytes("3"));
        primary.put(family, bytes("b"), bytes("4"));
        equal(bytes("1"), secondary.get(bytes("a")));
        secondary.tryCatchUpWithPrimary();
        both.tryCatchUpWithPrimary();
        equal(bytes("3"), secondary.get(bytes("a")));
        equal(bytes("4"), both.get(handles.get(1), bytes("b")));
        equal(Status.Code.NotSupported,
            fails(RocksDBException.class, () -> secondary.put(bytes("a"), bytes("5")))
                .getStatus()
                .getCode());
        equal(Status.Code.NotSupported,
            fails(RocksDBException.class, primary::tryCatchUpWithPrimary).getStatus().getCode());
      }
      fails(RocksDBException.class, () -> RocksDB.openAsSecondary(options, dir, dir));
    }
  }

  static void optionsOfFiles(String dir) throws Exception {
    String name;
    try (DBOptions options = new DBOptions()
             .setCreateIfMissing(true)
             .setCreateMissingColumnFamilies(true)
             .setMaxOpenFiles(77);
        ColumnFamilyOptions one = new ColumnFamilyOptions();
        ColumnFamilyOptions two = new ColumnFamilyOptions().setWriteBufferSize(3 << 20)) {
      List<ColumnFamilyDescriptor> families =
          List.of(new ColumnFamilyDescriptor(RocksDB.DEFAULT_COLUMN_FAMILY, one),
              new ColumnFamilyDescriptor(bytes("f"), two));
      RocksDB.open(options, dir, families, new ArrayList<>()).close();
      name = OptionsUtil.getLatestOptionsFileName(dir, Env.getDefault());
      check(name.startsWith("OPTIONS-"), name);
    }
    try (ConfigOptions config =
             new ConfigOptions().setIgnoreUnknownOptions(true).setEnv(Env.getDefault())) {
      for (int form = 0; form < 4; ++form) {
        try (DBOptions options = new DBOptions()) {
          List<ColumnFamilyDescriptor> families =
              form % 2 == 0 ? new ArrayList<>() : new LinkedList<>();
          if (form == 0) OptionsUtil.loadLatestOptions(dir, Env.getDefault(), options, families);
          if (form == 1) OptionsUtil.loadLatestOptions(config, dir, options, families);
          if (form == 2)
            OptionsUtil.loadOptionsFromFile(dir + "/" + name, Env.getDefault(), options, families);
          if (form == 3)
            OptionsUtil.loadOptionsFromFile(config, dir + "/" + name, options, families);
          equal(77, options.maxOpenFiles());
          equal(2, families.size());
          equal("f", text(families.get(1).getName()));
          equal(3L << 20, families.get(1).getOptions().writeBufferSize());
          RocksDB.open(options, dir, families, new ArrayList<>()).close();
          for (ColumnFamilyDescriptor family : families) family.getOptions().close();
          name = OptionsUtil.getLatestOptionsFileName(dir, Env.getDefault());
        }
      }
    }
    try (DBOptions options = new DBOptions()) {
      fails(RocksDBException.class,
          ()
              -> OptionsUtil.loadLatestOptions(
                  dir + "-none", Env.getDefault(), options, new ArrayList<>()));
      fails(NullPointerException.class,
          () -> OptionsUtil.loadLatestOptions(dir, Env.getDefault(), options, null));
    }
  }

  static void statisticsWithinOthers(String dir) throws Exception {
    try (Statistics inner = new Statistics(); Statistics outer = new Statistics(inner);
        Options options = new Options().setCreateIfMissing(true).setStatistics(outer)) {
      inner.close();
      try (Options other = new Options().setStatistics(outer);
          Statistics shared = other.statistics(); RocksDB db = RocksDB.open(options, dir)) {
        for (int i = 0; i < 10; ++i) db.put(bytes("k" + i), bytes("v"));
        equal(10L, shared.getTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      }
    }
    try (Statistics inner = new Statistics();
        Statistics outer = new Statistics(java.util.EnumSet.of(HistogramType.DB_WRITE), inner);
        Options options = new Options().setCreateIfMissing(true).setStatistics(outer);
        RocksDB db = RocksDB.open(options, dir)) {
      for (int i = 0; i < 10; ++i) db.put(bytes("k" + i), bytes("v"));
      db.get(bytes("k1"));
      equal(10L, outer.getTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      equal(10L, inner.getTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      equal(1L, outer.getHistogramData(HistogramType.DB_GET).getCount());
      equal(1L, inner.getHistogramData(HistogramType.DB_GET).getCount());
      equal(10L, outer.getAndResetTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      equal(0L, inner.getTickerCount(TickerType.NUMBER_KEYS_WRITTEN));
      outer.reset();
      equal(0L, outer.getHistogramData(HistogramType.DB_GET).getCount());
      equal(1L, inner.getHistogramData(HistogramType.DB_GET).getCount());
    }
  }

  static void propertiesOfRangesAndSumsThatStartAgain(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true);
        RocksDB db = RocksDB.open(options, dir); FlushOptions flush = new FlushOptions();
        Slice a = new Slice("a"); Slice b = new Slice("b"); Slice c = new Slice("c");
        Slice z = new Slice("z")) {
      db.put(bytes("a"), bytes("1"));
      db.flush(flush);
      db.put(bytes("y"), bytes("1"));
      db.put(bytes("z"), bytes("1"));
      db.flush(flush);
      Map<String, TableProperties> found =
          db.getPropertiesOfTablesInRange(List.of(new Range(a, b)));
      equal(1, found.size());
      equal(1L, found.values().iterator().next().getNumEntries());
      equal(2, db.getPropertiesOfTablesInRange(List.of(new Range(a, b), new Range(c, z))).size());
      equal(0, db.getPropertiesOfTablesInRange(List.of(new Range(b, c))).size());
      equal("2", db.getMapProperty("rocksdb.cfstats").get("compaction.L0.CompCount"));
      db.resetStats();
      equal(null, db.getMapProperty("rocksdb.cfstats").get("compaction.L0.CompCount"));
    }
  }

  /** Writes each event with what matters of it. */
  private static class Diary extends AbstractEventListener {
    final List<String> seen = Collections.synchronizedList(new ArrayList<>());
    final List<CompactionJobInfo> compactions = Collections.synchronizedList(new ArrayList<>());
    final List<FlushJobInfo> flushes = Collections.synchronizedList(new ArrayList<>());
    final List<Object> infos = Collections.synchronizedList(new ArrayList<>());

    Diary(EnabledEventCallback... enabled) {
      super(enabled);
    }
    Diary() {}

    private String valueOfA(RocksDB db) {
      try {
        return text(db.get(bytes("a")));
      } catch (RocksDBException e) {
        return e.getMessage();
      }
    }

    @Override
    public void onFlushBegin(RocksDB db, FlushJobInfo info) {
      seen.add("flush begins " + info.getColumnFamilyName() + " " + valueOfA(db) + " "
          + info.getFlushReason());
    }
    @Override
    public void onFlushCompleted(RocksDB db, FlushJobInfo info) {
      seen.add("flush ends " + info.getFlushReason() + " "
          + info.getTableProperties().getNumEntries() + " " + db.getName());
      flushes.add(info);
    }
    @Override
    public void onCompactionBegin(RocksDB db, CompactionJobInfo info) {
      seen.add("compaction begins " + info.compactionReason() + " " + valueOfA(db));
    }
    @Override
    public void onCompactionCompleted(RocksDB db, CompactionJobInfo info) {
      try (CompactionJobStats stats = info.stats()) {
        seen.add("compaction ends " + info.status().getCode() + " " + text(info.columnFamilyName())
            + " of " + info.inputFiles().size() + " to " + info.outputFiles().size() + ", level "
            + info.baseInputLevel() + " to " + info.outputLevel() + ", tables "
            + info.tableProperties().size() + ", " + info.compactionReason() + " " + valueOfA(db)
            + ", records " + stats.numInputRecords() + " to " + stats.numOutputRecords()
            + ", replaced " + stats.numRecordsReplaced() + " " + stats.isManualCompaction());
      }
      compactions.add(info);
    }
    @Override
    public void onTableFileCreationStarted(TableFileCreationBriefInfo info) {
      seen.add("table begins " + info.getReason() + " " + info.getColumnFamilyName());
    }
    @Override
    public void onTableFileCreated(TableFileCreationInfo info) {
      seen.add("table ends " + info.getReason() + " " + info.getStatus().getCode() + " "
          + info.getTableProperties().getNumEntries());
      infos.add(info);
    }
    @Override
    public void onTableFileDeleted(TableFileDeletionInfo info) {
      seen.add("table deleted " + info.getStatus().getCode());
      infos.add(info);
    }
    @Override
    public void onMemTableSealed(MemTableInfo info) {
      seen.add("sealed " + info.getColumnFamilyName() + " " + info.getNumEntries() + " "
          + info.getNumDeletes());
    }
    @Override
    public void onColumnFamilyHandleDeletionStarted(ColumnFamilyHandle handle) {
      try {
        seen.add("handle " + text(handle.getName()) + " " + handle.getID());
      } catch (RocksDBException e) {
        seen.add(e.getMessage());
      }
    }
    @Override
    public void onExternalFileIngested(RocksDB db, ExternalFileIngestionInfo info) {
      seen.add("ingested " + info.getColumnFamilyName() + " "
          + info.getTableProperties().getNumEntries() + " " + valueOfA(db));
      infos.add(info);
    }
    @Override
    public void onBackgroundError(BackgroundErrorReason reason, Status error) {
      seen.add("error " + reason + " " + error.getCode());
    }
    @Override
    public void onStallConditionsChanged(WriteStallInfo info) {
      seen.add("stall " + info.getPreviousCondition() + " to " + info.getCurrentCondition());
    }
  }

  static void listenersAreToldOfJobs(String dir) throws Exception {
    Diary diary = new Diary();
    String table = dir + "-table.sst";
    try (Options options = new Options().setCreateIfMissing(true).setListeners(List.of(diary));
        FlushOptions flush = new FlushOptions();
        CompactRangeOptions forced = new CompactRangeOptions()) {
      check(options.listeners().size() == 1 && options.listeners().get(0) == diary,
          "the same object");
      try (DBOptions part = new DBOptions(options); Options copy = new Options(options)) {
        check(part.listeners().get(0) == diary && copy.listeners().get(0) == diary,
            "the same object in copies");
        copy.setListeners(List.of());
        equal(0, copy.listeners().size());
      }
      RocksDB db = RocksDB.open(options, dir);
      diary.close();  // the options and the database have their shares
      ColumnFamilyHandle family = db.createColumnFamily(new ColumnFamilyDescriptor(bytes("f")));
      db.put(bytes("a"), bytes("1"));
      db.delete(bytes("b"));
      db.flush(flush);
      db.put(bytes("a"), bytes("2"));
      db.flush(flush);
      forced.setBottommostLevelCompaction(CompactRangeOptions.BottommostLevelCompaction.kForce);
      db.compactRange(null, null, null, forced);
      try (EnvOptions files = new EnvOptions();
          SstFileWriter writer = new SstFileWriter(files, options);
          IngestExternalFileOptions ingest = new IngestExternalFileOptions()) {
        writer.open(table);
        writer.put(bytes("x"), bytes("1"));
        writer.finish();
        db.ingestExternalFile(List.of(table), ingest);
      }
      family.close();
      db.close();
    }
    List<String> seen = new ArrayList<>(diary.seen);
    for (String wanted : List.of("sealed default 2 1", "flush begins default 1 MANUAL_FLUSH",
             "table begins FLUSH default", "table ends FLUSH Ok 2",
             "flush ends MANUAL_FLUSH 2 " + dir, "flush ends MANUAL_FLUSH 1 " + dir,
             "compaction begins kManualCompaction 2",
             "compaction ends Ok default of 2 to 1, level 0 to 6, tables 3, kManualCompaction 2, "
                 + "records 3 to 1, replaced 1 true",
             "table begins COMPACTION default", "table ends COMPACTION Ok 1", "table deleted Ok",
             "ingested default 1 2", "handle f 1")) {
      check(seen.contains(wanted), "no \"" + wanted + "\" in " + seen);
    }
    FlushJobInfo first = diary.flushes.get(0);
    check(first.getFilePath().endsWith(".sst") && first.getFilePath().startsWith(dir),
        first.getFilePath());
    check(first.getJobId() > 0 && first.getThreadId() > 0 && first.getSmallestSeqno() == 1
            && first.getLargestSeqno() == 2,
        first.toString());
    for (Object info : diary.infos) {
      if (info instanceof TableFileCreationInfo)
        check(((TableFileCreationInfo) info).getFileSize() > 0
                && ((TableFileCreationInfo) info).getDbName().equals(dir),
            info.toString());
      if (info instanceof TableFileDeletionInfo)
        check(((TableFileDeletionInfo) info).getFilePath().startsWith(dir), info.toString());
      if (info instanceof ExternalFileIngestionInfo)
        equal(table, ((ExternalFileIngestionInfo) info).getExternalFilePath());
    }
    // The report of a compaction is valid only during its callback.
    fails(IllegalStateException.class, () -> diary.compactions.get(0).jobId());
  }

  static void listenersAreToldOfStallsAndErrors(String dir) throws Exception {
    Diary diary = new Diary();
    try (Options options = new Options()
             .setCreateIfMissing(true)
             .setListeners(List.of(diary))
             .setLevelZeroFileNumCompactionTrigger(2)
             .setLevelZeroSlowdownWritesTrigger(2);
        FlushOptions flush = new FlushOptions()) {
      RocksDB db = RocksDB.open(options, dir);
      for (int i = 0; i < 4; ++i) {
        db.put(bytes("a"), bytes("" + i));
        db.flush(flush);
      }
      // Creates a directory in place of each future table.
      for (int number = 1; number < 100; ++number) {
        Path path = Path.of(dir, String.format("%06d.sst", number));
        try {
          Files.createDirectory(path);
        } catch (FileAlreadyExistsException e) {
          continue;  // a table, which a compaction may have made just now
        }
      }
      // A compaction may fail first.
      fails(RocksDBException.class, () -> {
        db.put(bytes("a"), bytes("5"));
        db.flush(flush);
      });
      db.close();
    }
    check(diary.seen.contains("stall NORMAL to DELAYED"), "stalls: " + diary.seen);
    check(diary.seen.contains("error FLUSH IOError")
            || diary.seen.contains("error COMPACTION IOError"),
        "errors: " + diary.seen);
    diary.close();
  }

  static void aListenerIsToldOfWhatItWants(String dir) throws Exception {
    try (Diary diary = new Diary(AbstractEventListener.EnabledEventCallback.ON_MEMTABLE_SEALED);
        Options options = new Options().setCreateIfMissing(true).setListeners(List.of(diary));
        FlushOptions flush = new FlushOptions()) {
      try (RocksDB db = RocksDB.open(options, dir)) {
        db.put(bytes("a"), bytes("1"));
        db.flush(flush);
      }
      equal(List.of("sealed default 1 0"), diary.seen);
    }
  }

  static void theReportOfACompactionOfFiles(String dir) throws Exception {
    try (Options options = new Options()
             .setCreateIfMissing(true)
             .setDisableAutoCompactions(true)
             .setReportBgIoStats(true);
        RocksDB db = RocksDB.open(options, dir); FlushOptions flush = new FlushOptions();
        CompactionOptions how = new CompactionOptions();
        CompactionJobInfo report = new CompactionJobInfo();
        CompactionJobStats sum = new CompactionJobStats()) {
      List<String> files = new ArrayList<>();
      for (int i = 0; i < 2; ++i) {
        db.put(bytes("a"), bytes("" + i));
        db.flush(flush);
      }
      for (LiveFileMetaData file : db.getLiveFilesMetaData()) files.add(file.fileName());
      List<String> made = db.compactFiles(how, files, 3, -1, report);
      equal(made, report.outputFiles());
      equal(2, report.inputFiles().size());
      equal(3, report.outputLevel());
      try (CompactionJobStats stats = report.stats()) {
        equal(2L, stats.numInputRecords());
        equal(0L, stats.numInputFilesAtOutputLevel());
        equal("a", new String(stats.smallestOutputKeyPrefix(), UTF_8));
        equal("a", new String(stats.largestOutputKeyPrefix(), UTF_8));
        equal(2L * 9, stats.totalInputRawKeyBytes());
        equal(2L, stats.totalInputRawValueBytes());
        check(stats.fileWriteNanos() > 0, "writing takes time");
        check(stats.fileFsyncNanos() > 0, "a sync takes time");
        sum.add(stats);
        sum.add(stats);
        equal(4L, sum.numInputRecords());
        equal(2 * stats.totalOutputBytes(), sum.totalOutputBytes());
        sum.reset();
        equal(0L, sum.numInputRecords());
      }
    }
  }

  static void aSuggestedRangeIsCompacted(String dir) throws Exception {
    CountDownLatch marked = new CountDownLatch(1);
    try (AbstractEventListener listener =
             new AbstractEventListener(
                 AbstractEventListener.EnabledEventCallback.ON_COMPACTION_COMPLETED) {
               @Override
               public void onCompactionCompleted(RocksDB db, CompactionJobInfo info) {
                 if (info.compactionReason() == CompactionReason.kFilesMarkedForCompaction)
                   marked.countDown();
               }
             };
        Options options = new Options().setCreateIfMissing(true).setListeners(List.of(listener));
        RocksDB db = RocksDB.open(options, dir); FlushOptions flush = new FlushOptions()) {
      db.put(bytes("a"), bytes("1"));
      db.flush(flush);
      db.compactRange();
      db.put(new byte[0], bytes("2"));
      db.put(bytes("b"), bytes("2"));
      db.flush(flush);
      // RocksDB's library suggests the empty key, and so does this one.
      check(db.suggestCompactRange() != null, "a range");
      marked.await();
    }
  }

  static void threadsSayWhatTheyDo(String dir) throws Exception {
    try (Options options = new Options().setCreateIfMissing(true).setEnableThreadTracking(true);
        FlushOptions flush = new FlushOptions(); RocksDB db = RocksDB.open(options, dir)) {
      db.put(bytes("a"), bytes("1"));
      db.flush(flush);
      // The threads of the pool have started. Their present work is not known.
      List<ThreadStatus> threads = Env.getDefault().getThreadList();
      check(!threads.isEmpty(), "no thread");
      for (ThreadStatus thread : threads) {
        check(thread.getThreadId() != 0, "a thread without a number");
        equal(6, thread.getOperationProperties().length);
        if (thread.getOperationType() == OperationType.OP_UNKNOWN)
          equal((Object) null, thread.getDbName());
      }
    }
    equal("High Pri", ThreadStatus.getThreadTypeName(ThreadType.HIGH_PRIORITY));
    equal("Flush", ThreadStatus.getOperationName(OperationType.OP_FLUSH));
    equal((Object) null, ThreadStatus.getOperationName(OperationType.OP_UNKNOWN));
    equal("17 us", ThreadStatus.microsToString(17));
    check(ThreadStatus.getOperationStageName(OperationStage.STAGE_FLUSH_RUN) != null,
        "a stage without a name");
    check(ThreadStatus.getStateName(StateType.STATE_MUTEX_WAIT) != null, "a state without a name");
    equal("BytesMemtables", ThreadStatus.getOperationPropertyName(OperationType.OP_FLUSH, 1));
    equal((Object) null, ThreadStatus.getOperationPropertyName(OperationType.OP_FLUSH, 3));
    Map<String, Long> flushed =
        ThreadStatus.interpretOperationProperties(OperationType.OP_FLUSH, new long[] {4, 5});
    equal(Map.of("JobID", 4L, "BytesMemtables", 5L, "BytesWritten", 0L), flushed);
    fails(NullPointerException.class,
        () -> ThreadStatus.interpretOperationProperties(OperationType.OP_FLUSH, null));
  }

  static void exceptionsOfListenersStayThere(String dir) throws Exception {
    AtomicLong thrown = new AtomicLong();
    AtomicBoolean failing = new AtomicBoolean();
    AbstractEventListener listener = new AbstractEventListener() {
      private IllegalStateException failure() {
        thrown.incrementAndGet();
        return new IllegalStateException("expected: the listener fails");
      }
      @Override
      public void onFlushCompleted(RocksDB db, FlushJobInfo info) {
        throw failure();
      }
      @Override
      public void onTableFileCreationStarted(TableFileCreationBriefInfo info) {
        throw failure();
      }
      @Override
      public void onColumnFamilyHandleDeletionStarted(ColumnFamilyHandle handle) {
        throw failure();
      }
    };
    try (ComparatorOptions how = new ComparatorOptions();
        Backwards backwards = new Backwards(how, failing); Options options = new Options()
                                                               .setCreateIfMissing(true)
                                                               .setListeners(List.of(listener))
                                                               .setComparator(backwards);
        FlushOptions flush = new FlushOptions()) {
      try (RocksDB db = RocksDB.open(options, dir)) {
        ColumnFamilyHandle family = db.createColumnFamily(new ColumnFamilyDescriptor(bytes("f")));
        db.put(bytes("a"), bytes("1"));
        db.put(bytes("b"), bytes("1"));
        db.flush(flush);
        equal(bytes("1"), db.get(bytes("a")));
        db.dropColumnFamily(family);
        family.close();
        check(thrown.get() >= 3, "the listener was called " + thrown.get() + " times");
      }
      // The opening thread replays the log, which needs comparisons, and calls the listener after
      // that.
      try (RocksDB db = RocksDB.open(options, dir + "-log")) {
        db.put(bytes("a"), bytes("1"));
        db.put(bytes("b"), bytes("1"));
      }
      failing.set(true);
      long before = thrown.get();
      IllegalStateException failure =
          fails(IllegalStateException.class, () -> RocksDB.open(options, dir + "-log"));
      equal("the comparator fails", failure.getMessage());
      check(thrown.get() > before, "the listener was called after the comparator");
      failing.set(false);
      // The open closed what it could not return. Otherwise the database could not be destroyed.
      RocksDB.destroyDB(dir + "-log", options);
    }
    listener.close();
  }

  /**
   * Closes a database where that cannot be: the database stays open, so each has a directory of its
   * own.
   */
  static void closingADatabaseInItsOwnCallbackIsAnException(String dir) throws Exception {
    AtomicReference<RocksDB> opened = new AtomicReference<>();
    List<String> failures = Collections.synchronizedList(new ArrayList<>());
    Action closing = ()
        -> failures.add(
            fails(IllegalStateException.class, () -> opened.get().close()).getMessage());
    for (String event : List.of("flush", "deletion", "handle", "iterator")) {
      failures.clear();
      AtomicBoolean ready = new AtomicBoolean();
      CountDownLatch called = new CountDownLatch(1);
      AbstractEventListener listener = new AbstractEventListener() {
        private void close(String now) {
          if (!now.equals(event) || !ready.compareAndSet(true, false)) return;
          try {
            closing.run();
          } catch (Throwable e) {
            failures.add(e.toString());
          }
          called.countDown();
        }
        @Override
        public void onFlushCompleted(RocksDB db, FlushJobInfo info) {
          close("flush");
        }
        @Override
        public void onTableFileDeleted(TableFileDeletionInfo info) {
          close("deletion");
        }
        @Override
        public void onColumnFamilyHandleDeletionStarted(ColumnFamilyHandle handle) {
          close("handle");
        }
      };
      try (ComparatorOptions how = new ComparatorOptions();
          AbstractComparator comparator =
              new AbstractComparator(how) {
                @Override
                public String name() {
                  return "test.Closing";
                }
                @Override
                public int compare(ByteBuffer a, ByteBuffer b) {
                  if (event.equals("iterator") && ready.compareAndSet(true, false)) {
                    try {
                      closing.run();
                    } catch (Exception e) {
                      failures.add(e.toString());
                    }
                    called.countDown();
                  }
                  return a.compareTo(b);
                }
              };
          Options options = new Options()
              .setCreateIfMissing(true)
              .setListeners(List.of(listener))
              .setComparator(comparator);
          FlushOptions flush = new FlushOptions()) {
        opened.set(RocksDB.open(options, dir + event));
        RocksDB db = opened.get();
        ColumnFamilyHandle family = db.createColumnFamily(new ColumnFamilyDescriptor(bytes("f")));
        db.put(bytes("a"), bytes("1"));
        db.put(bytes("b"), bytes("1"));
        RocksIterator iterator = db.newIterator();
        ready.set(true);
        if (event.equals("handle")) {
          family.close();
        } else if (event.equals("iterator")) {
          iterator.seek(bytes("b"));
          equal(bytes("b"), iterator.key());
        } else {
          db.flush(flush);
          db.compactRange(null, null, null,
              new CompactRangeOptions().setBottommostLevelCompaction(
                  CompactRangeOptions.BottommostLevelCompaction.kForce));
        }
        called.await();
        equal(1, failures.size());
        equal(bytes("1"), db.get(bytes("a")));
        iterator.close();
      }
    }
  }

  public static void main(String[] arguments) throws Exception {
    TESTS.put("whatIsPutIsReadAfterReopening", BindingTest::whatIsPutIsReadAfterReopening);
    TESTS.put("errorsHaveCodeAndText", BindingTest::errorsHaveCodeAndText);
    TESTS.put("answersAreThoseThatTheClassesKnow", BindingTest::answersAreThoseThatTheClassesKnow);
    TESTS.put(
        "aFamilyThatIsNamedTwiceIsOpenedOnce", BindingTest::aFamilyThatIsNamedTwiceIsOpenedOnce);
    TESTS.put("useAfterCloseIsAnException", BindingTest::useAfterCloseIsAnException);
    TESTS.put("aFamilyOfAnotherDatabaseIsRefused", BindingTest::aFamilyOfAnotherDatabaseIsRefused);
    TESTS.put("closingWhileOthersReadAndWrite", BindingTest::closingWhileOthersReadAndWrite);
    TESTS.put("columnFamilies", BindingTest::columnFamilies);
    TESTS.put("aCallNamesAnyNumberOfFamilies", BindingTest::aCallNamesAnyNumberOfFamilies);
    TESTS.put("directBuffers", BindingTest::directBuffers);
    TESTS.put("aKeyThatCannotBeReadIsAnException", BindingTest::aKeyThatCannotBeReadIsAnException);
    TESTS.put("batchesSnapshotsAndIterators", BindingTest::batchesSnapshotsAndIterators);
    TESTS.put("comparatorsOfJava", BindingTest::comparatorsOfJava);
    TESTS.put("aComparatorDoesNotGetTheByteOrderOfAnother",
        BindingTest::aComparatorDoesNotGetTheByteOrderOfAnother);
    TESTS.put("threadsThatUsedAComparatorAreDetached",
        BindingTest::threadsThatUsedAComparatorAreDetached);
    TESTS.put("compactionFiltersAndLoggers", BindingTest::compactionFiltersAndLoggers);
    TESTS.put("filtersOfTables", BindingTest::filtersOfTables);
    TESTS.put("filtersOfLogs", BindingTest::filtersOfLogs);
    TESTS.put("batchesEndInTheLogAtTheirTerminationPoint",
        BindingTest::batchesEndInTheLogAtTheirTerminationPoint);
    TESTS.put("tablesByLevelAndName", BindingTest::tablesByLevelAndName);
    TESTS.put("optionsKeepWhatIsSet", BindingTest::optionsKeepWhatIsSet);
    TESTS.put("statisticsAndProperties", BindingTest::statisticsAndProperties);
    TESTS.put("checkpointsAndBackups", BindingTest::checkpointsAndBackups);
    TESTS.put(
        "closingInsideACallbackIsAnException", BindingTest::closingInsideACallbackIsAnException);
    TESTS.put("aLoggerKeepsTheExceptionOfAComparator",
        BindingTest::aLoggerKeepsTheExceptionOfAComparator);
    TESTS.put("tablesCutAtPrefixes", BindingTest::tablesCutAtPrefixes);
    TESTS.put("theSpaceOfTables", BindingTest::theSpaceOfTables);
    TESTS.put("rateLimitersHaveModes", BindingTest::rateLimitersHaveModes);
    TESTS.put("theMemoryOfMemTables", BindingTest::theMemoryOfMemTables);
    TESTS.put("aReaderIsNotClosedInsideACallOfItsIterator",
        BindingTest::aReaderIsNotClosedInsideACallOfItsIterator);
    TESTS.put("tablesFromOutside", BindingTest::tablesFromOutside);
    TESTS.put("updatesSinceASequence", BindingTest::updatesSinceASequence);
    TESTS.put("valuesWithTimeToLive", BindingTest::valuesWithTimeToLive);
    TESTS.put("aSecondaryFollowsItsPrimary", BindingTest::aSecondaryFollowsItsPrimary);
    TESTS.put("optionsOfFiles", BindingTest::optionsOfFiles);
    TESTS.put("statisticsWithinOthers", BindingTest::statisticsWithinOthers);
    TESTS.put("propertiesOfRangesAndSumsThatStartAgain",
        BindingTest::propertiesOfRangesAndSumsThatStartAgain);
    TESTS.put("listenersAreToldOfJobs", BindingTest::listenersAreToldOfJobs);
    TESTS.put("listenersAreToldOfStallsAndErrors", BindingTest::listenersAreToldOfStallsAndErrors);
    TESTS.put("aListenerIsToldOfWhatItWants", BindingTest::aListenerIsToldOfWhatItWants);
    TESTS.put("theReportOfACompactionOfFiles", BindingTest::theReportOfACompactionOfFiles);
    TESTS.put("aSuggestedRangeIsCompacted", BindingTest::aSuggestedRangeIsCompacted);
    TESTS.put("threadsSayWhatTheyDo", BindingTest::threadsSayWhatTheyDo);
    TESTS.put("exceptionsOfListenersStayThere", BindingTest::exceptionsOfListenersStayThere);
    TESTS.put("closingADatabaseInItsOwnCallbackIsAnException",
        BindingTest::closingADatabaseInItsOwnCallbackIsAnException);
    TESTS.put(
        "theEnvironmentOfADatabaseEndsWithIt", BindingTest::theEnvironmentOfADatabaseEndsWithIt);
    TESTS.put("aDescriptorKeepsTheComparatorAndTheFilterOfItsFamily",
        BindingTest::aDescriptorKeepsTheComparatorAndTheFilterOfItsFamily);
    TESTS.put("aDescriptorOfADatabaseWithTtlKeepsTheFilter",
        BindingTest::aDescriptorOfADatabaseWithTtlKeepsTheFilter);
    TESTS.put("aDescriptorThatMayOutliveItsComparatorIsRefused",
        BindingTest::aDescriptorThatMayOutliveItsComparatorIsRefused);
    TESTS.put("disabledFileDeletionsAreCounted", BindingTest::disabledFileDeletionsAreCounted);
    TESTS.put("closedOptionsAreRefused", ClosedObjects::ofOptionsAreRefused);
    TESTS.put("closedSharedObjectsAreRefused", ClosedObjects::ofSharedObjectsAreRefused);
    TESTS.put("closedObjectsOfJavaCodeAreRefused", ClosedObjects::ofJavaCodeAreRefused);
    TESTS.put("closedPartsOfDatabasesAreRefused", ClosedObjects::ofDatabasesAreRefused);
    TESTS.put("unsupportedNativesThrowTheNamesOfTheirFeatures",
        UnsupportedNatives::throwTheNamesOfTheirFeatures);
    List<String> wanted = arguments.length > 0 ? List.of(arguments) : List.copyOf(TESTS.keySet());
    for (String name : wanted) {
      if (TESTS.containsKey(name)) continue;
      System.out.println("there is no scenario '" + name + "'. There are:\n  "
          + String.join("\n  ", TESTS.keySet()));
      System.exit(2);
    }
    RocksDB.loadLibrary();
    String library = ownLibrary();
    System.out.println("library: " + library);
    check(library.endsWith("libashlarjni.so"), "the library is another one: set java.library.path");
    Path root = Files.createTempDirectory("ashlar-java");
    int failed = 0;
    for (String name : wanted) {
      try {
        TESTS.get(name).run(root.resolve(name).toString());
        System.out.println("ok     " + name);
      } catch (Throwable e) {
        ++failed;
        System.out.println("FAILED " + name);
        e.printStackTrace(System.out);
      }
    }
    delete(root);
    System.out.println(wanted.size() - failed + " passed, " + failed + " failed");
    System.exit(failed == 0 ? 0 : 1);
  }
}
