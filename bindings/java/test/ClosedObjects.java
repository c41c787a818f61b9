import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.rocksdb.*;

/** Closes an object of each class and uses it afterwards: IllegalStateException, never a crash. */
final class ClosedObjects {
  private interface Use<T> {
    void of(T object) throws Exception;
  }

  private ClosedObjects() {}

  private static <T extends AutoCloseable> void refused(T object, Use<T> use) throws Exception {
    object.close();
    BindingTest.fails(
        IllegalStateException.class, () -> use.of(object), object.getClass().getSimpleName());
    object.close();
  }

  /** What options take: setting it needs the object. */
  private static <T extends AutoCloseable> void refusedByOptions(
      T object, java.util.function.BiConsumer<Options, T> set) throws Exception {
    refused(object, closed -> {
      try (Options options = new Options()) {
        set.accept(options, closed);
      }
    });
  }

  static void ofOptionsAreRefused(String dir) throws Exception {
    refused(new Options(), Options::maxOpenFiles);
    refused(new DBOptions(), DBOptions::maxOpenFiles);
    refused(new ColumnFamilyOptions(), ColumnFamilyOptions::writeBufferSize);
    refused(new ReadOptions(), ReadOptions::fillCache);
    refused(new WriteOptions(), WriteOptions::sync);
    refused(new FlushOptions(), FlushOptions::waitForFlush);
    refused(new CompactRangeOptions(), CompactRangeOptions::changeLevel);
    refused(new CompactionOptions(), CompactionOptions::outputFileSizeLimit);
    refused(new CompactionOptionsFIFO(), CompactionOptionsFIFO::maxTableFilesSize);
    refused(new CompactionOptionsUniversal(), CompactionOptionsUniversal::sizeRatio);
    refused(new CompressionOptions(), CompressionOptions::level);
    refused(new ConfigOptions(), options -> options.setIgnoreUnknownOptions(true));
    refused(new EnvOptions(), EnvOptions::bytesPerSync);
    refused(new IngestExternalFileOptions(), IngestExternalFileOptions::moveFiles);
    refused(new ComparatorOptions(), ComparatorOptions::maxReusedBufferSize);
    Files.createDirectories(Path.of(dir));
    refused(new BackupEngineOptions(dir), BackupEngineOptions::sync);
    refused(new RestoreOptions(false), options -> {
      try (BackupEngineOptions backups = new BackupEngineOptions(dir);
          BackupEngine engine = BackupEngine.open(Env.getDefault(), backups)) {
        engine.restoreDbFromLatestBackup(dir, dir, options);
      }
    });
  }

  static void ofSharedObjectsAreRefused(String dir) throws Exception {
    refused(new Statistics(), statistics -> statistics.getTickerCount(TickerType.BYTES_READ));
    refused(new LRUCache(1 << 20), Cache::getUsage);
    refused(new ClockCache(1 << 20), Cache::getUsage);
    refused(new RateLimiter(1 << 20), RateLimiter::getBytesPerSecond);
    refused(new SstFileManager(Env.getDefault()), SstFileManager::getTotalSize);
    refused(new RocksMemEnv(Env.getDefault()), Env::getThreadList);
    refused(new Slice("a"), Slice::size);
    refused(new DirectSlice(BindingTest.direct("a")), DirectSlice::size);
    refused(new WriteBatch(), WriteBatch::count);
    refused(new CompactionJobInfo(), CompactionJobInfo::jobId);
    refused(new CompactionJobStats(), CompactionJobStats::numInputRecords);
    refusedByOptions(new BloomFilter(10),
        (options, filter)
            -> options.setTableFormatConfig(new BlockBasedTableConfig().setFilterPolicy(filter)));
    refusedByOptions(new LRUCache(1 << 20),
        (options, cache)
            -> options.setTableFormatConfig(new BlockBasedTableConfig().setBlockCache(cache)));
    refusedByOptions(new LRUCache(1 << 20), Options::setRowCache);
    refusedByOptions(new Statistics(), Options::setStatistics);
    refusedByOptions(new RateLimiter(1 << 20), Options::setRateLimiter);
    refusedByOptions(new SstFileManager(Env.getDefault()), Options::setSstFileManager);
    refusedByOptions(new RocksMemEnv(Env.getDefault()), Options::setEnv);
    try (Cache cache = new LRUCache(1 << 20)) {
      refusedByOptions(new WriteBufferManager(1 << 20, cache), Options::setWriteBufferManager);
    }
    refusedByOptions(new StringAppendOperator(), Options::setMergeOperator);
    refusedByOptions(new SstPartitionerFixedPrefixFactory(1), Options::setSstPartitionerFactory);
    refusedByOptions(new RemoveEmptyValueCompactionFilter(), Options::setCompactionFilter);
  }

  private static final class Factory
      extends AbstractCompactionFilterFactory<RemoveEmptyValueCompactionFilter> {
    @Override
    public RemoveEmptyValueCompactionFilter createCompactionFilter(
        AbstractCompactionFilter.Context context) {
      return new RemoveEmptyValueCompactionFilter();
    }
    @Override
    public String name() {
      return "test.Factory";
    }
  }

  private static final class LogFilter extends AbstractWalFilter {
    @Override
    public void columnFamilyLogNumberMap(
        java.util.Map<Integer, Long> numbers, java.util.Map<String, Integer> ids) {}
    @Override
    public LogRecordFoundResult logRecordFound(
        long number, String file, WriteBatch batch, WriteBatch newBatch) {
      return LogRecordFoundResult.CONTINUE_UNCHANGED;
    }
    @Override
    public String name() {
      return "test.LogFilter";
    }
  }

  static void ofJavaCodeAreRefused(String dir) throws Exception {
    try (ComparatorOptions how = new ComparatorOptions()) {
      refusedByOptions(BindingTest.backwards(how), Options::setComparator);
    }
    refusedByOptions(new Factory(), Options::setCompactionFilterFactory);
    refusedByOptions(new LogFilter(), Options::setWalFilter);
    refusedByOptions(new AbstractEventListener() {},
        (options, listener) -> options.setListeners(List.of(listener)));
    try (Options of = new Options()) {
      refusedByOptions(new Logger(of) {
        @Override
        protected void log(InfoLogLevel level, String message) {}
      }, Options::setLogger);
    }
    refused(
        new AbstractTableFilter() {
          @Override
          public boolean filter(TableProperties table) {
            return true;
          }
        },
        filter -> {
          try (ReadOptions reading = new ReadOptions()) {
            reading.setTableFilter(filter);
          }
        });
    try (WriteBatch batch = new WriteBatch()) {
      refused(BindingTest.recorder(new ArrayList<>()), batch::iterate);
    }
  }

  static void ofDatabasesAreRefused(String dir) throws Exception {
    Files.createDirectories(Path.of(dir + "-backups"));
    try (Options options = new Options().setCreateIfMissing(true);
        EnvOptions files = new EnvOptions(); ReadOptions reading = new ReadOptions();
        BackupEngineOptions backups = new BackupEngineOptions(dir + "-backups")) {
      RocksDB db = RocksDB.open(options, dir);
      refused(db.newIterator(), RocksIterator::isValid);
      refused(db.getUpdatesSince(0), TransactionLogIterator::isValid);
      refused(db.createColumnFamily(new ColumnFamilyDescriptor(BindingTest.bytes("f"))),
          ColumnFamilyHandle::getName);
      refused(
          Checkpoint.create(db), checkpoint -> checkpoint.createCheckpoint(dir + "-checkpoint"));
      refused(BackupEngine.open(Env.getDefault(), backups), BackupEngine::getBackupInfo);
      refused(db, RocksDB::getLatestSequenceNumber);
      refused(TtlDB.open(options, dir + "-ttl"), TtlDB::getLatestSequenceNumber);
      String table = dir + ".sst";
      try (SstFileWriter writer = new SstFileWriter(files, options)) {
        writer.open(table);
        writer.put(BindingTest.bytes("a"), BindingTest.bytes("1"));
        writer.finish();
      }
      refused(new SstFileWriter(files, options), SstFileWriter::fileSize);
      try (SstFileReader reader = new SstFileReader(options)) {
        reader.open(table);
        refused(reader.newIterator(reading), SstFileReaderIterator::isValid);
      }
      refused(new SstFileReader(options), SstFileReader::verifyChecksum);
    }
  }
}
