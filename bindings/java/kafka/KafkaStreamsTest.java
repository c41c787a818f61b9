import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Comparator;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.SessionWindows;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateStore;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.Stores;

/**
 * Kafka Streams, unmodified, on libashlarjni: counts by key, by window and by session in persistent
 * stores, compared with a model; the flushed stores are opened again in a copy of their folder,
 * compared again and continued.
 */
public final class KafkaStreamsTest {
  private static final long WINDOW_MS = 10_000;
  private static final int KEYS = 50;
  private static final int RECORDS = 400;  // the driver syncs a file of its own after each

  private final Map<String, Long> counts = new TreeMap<>();
  private final Map<String, Long> windows = new TreeMap<>();
  private long sent;

  private static TopologyTestDriver open(Path dir) {
    StreamsBuilder builder = new StreamsBuilder();
    var grouped = builder.stream("in", Consumed.with(Serdes.String(), Serdes.Long()))
                      .groupByKey(Grouped.with(Serdes.String(), Serdes.Long()));
    grouped.count(Materialized.<String, Long>as(Stores.persistentTimestampedKeyValueStore("counts"))
            .withKeySerde(Serdes.String())
            .withValueSerde(Serdes.Long()));
    grouped.windowedBy(TimeWindows.ofSizeAndGrace(Duration.ofMillis(WINDOW_MS), Duration.ofDays(1)))
        .count(Materialized
                .<String, Long>as(Stores.persistentTimestampedWindowStore(
                    "windows", Duration.ofDays(2), Duration.ofMillis(WINDOW_MS), false))
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Long()));
    grouped
        .windowedBy(
            SessionWindows.ofInactivityGapAndGrace(Duration.ofSeconds(5), Duration.ofDays(1)))
        .count(Materialized
                .<String, Long>as(Stores.persistentSessionStore("sessions", Duration.ofDays(2)))
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Long()));
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "ashlar-test");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "127.0.0.1:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, dir.toString());
    // Enables the metrics of RocksDB's statistics.
    properties.put(StreamsConfig.METRICS_RECORDING_LEVEL_CONFIG, "DEBUG");
    return new TopologyTestDriver(builder.build(), properties, Instant.EPOCH);
  }

  private void send(TopologyTestDriver driver) {
    TestInputTopic<String, Long> topic =
        driver.createInputTopic("in", Serdes.String().serializer(), Serdes.Long().serializer());
    for (int i = 0; i < RECORDS; ++i, ++sent) {
      String key = "key" + (sent * 7919 % KEYS);
      long time = sent * 400;
      topic.pipeInput(key, sent, time);
      counts.merge(key, 1L, Long::sum);
      windows.merge(key + "@" + time / WINDOW_MS * WINDOW_MS, 1L, Long::sum);
    }
  }

  private void compare(TopologyTestDriver driver, String when) {
    Map<String, Long> stored = new TreeMap<>();
    try (KeyValueIterator<String, Long> all =
             driver.<String, Long>getKeyValueStore("counts").all()) {
      while (all.hasNext()) {
        KeyValue<String, Long> entry = all.next();
        stored.put(entry.key, entry.value);
      }
    }
    check(counts.equals(stored), when + ": counts differ");
    stored.clear();
    try (KeyValueIterator<Windowed<String>, Long> all =
             driver.<String, Long>getWindowStore("windows").all()) {
      while (all.hasNext()) {
        KeyValue<Windowed<String>, Long> entry = all.next();
        stored.put(entry.key.key() + "@" + entry.key.window().start(), entry.value);
      }
    }
    check(windows.equals(stored),
        when + ": windows differ: " + windows.size() + ", " + stored.size());
    long inSessions = 0;
    for (String key : counts.keySet()) {
      try (KeyValueIterator<Windowed<String>, Long> sessions =
               driver.<String, Long>getSessionStore("sessions").fetch(key)) {
        while (sessions.hasNext()) inSessions += sessions.next().value;
      }
    }
    check(inSessions == sent, when + ": sessions hold " + inSessions + " of " + sent);
  }

  private static void check(boolean truth, String what) {
    if (!truth) throw new AssertionError(what);
  }

  private static void copy(Path from, Path to) throws Exception {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator)
        Files.copy(file, to.resolve(from.relativize(file).toString()));
    }
  }

  private static void delete(Path path) throws Exception {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator)
        Files.delete(file);
    }
  }

  public static void main(String[] arguments) throws Exception {
    Path root = Files.createTempDirectory("ashlar-kafka");
    Path dir = Files.createDirectory(root.resolve("first")), copy = root.resolve("copy");
    KafkaStreamsTest test = new KafkaStreamsTest();
    long start = System.nanoTime();
    try (TopologyTestDriver driver = open(dir)) {
      test.send(driver);
      test.compare(driver, "before close");
      try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
        String libraries =
            maps.filter(line -> line.contains("rocksdbjni") || line.contains("ashlarjni"))
                .map(line -> line.substring(line.indexOf('/')))
                .distinct()
                .reduce("", String::concat);
        System.out.println("library: " + libraries);
        check(libraries.endsWith("libashlarjni.so"),
            "the library is another one: set java.library.path");
      }
      // The driver deletes its folder when it is closed, so the stores are opened again from a
      // copy.
      for (StateStore store : driver.getAllStateStores().values()) store.flush();
      copy(dir, copy);
    }
    System.out.printf("%d records into three stores: %d ms%n", test.sent,
        (System.nanoTime() - start) / 1_000_000);
    // The driver has no changelog to restore from, so everything that it finds was on disk.
    try (TopologyTestDriver driver = open(copy)) {
      test.compare(driver, "after reopening");
      test.send(driver);
      test.compare(driver, "after more records");
    }
    delete(root);
    System.out.println("3 passed, 0 failed");
    System.exit(0);
  }
}
