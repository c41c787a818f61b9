import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.CRC32C;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StoreQueryParameters;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.kstream.Windowed;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.QueryableStoreTypes;
import org.apache.kafka.streams.state.WindowStore;

/**
 * The sums of numbers by key and window of ten seconds, in a window store on RocksDB's classes,
 * exactly once: after a crash Kafka Streams discards the store's files and restores them from the
 * topic of its changes. Commands: "running" (whether it runs, and how many entries it restored),
 * "contents" (the number of windows, the sum of all, and a checksum that does not depend on their
 * order), "list" (writes the windows to a file, whose name it answers).
 */
public final class WindowApplication {
  static final String INPUT = "numbers";
  static final Duration WINDOW = Duration.ofSeconds(10);
  private static final String STORE = "sums";

  private static final AtomicLong restored = new AtomicLong();

  private WindowApplication() {}

  private static KafkaStreams open(String servers, String folder) {
    StreamsBuilder builder = new StreamsBuilder();
    builder.stream(INPUT, Consumed.with(Serdes.String(), Serdes.Long()))
        .groupByKey(Grouped.with(Serdes.String(), Serdes.Long()))
        .windowedBy(TimeWindows.ofSizeAndGrace(WINDOW, Duration.ofDays(1)))
        .reduce(Long::sum,
            Materialized.<String, Long, WindowStore<Bytes, byte[]>>as(STORE)
                .withKeySerde(Serdes.String())
                .withValueSerde(Serdes.Long())
                .withRetention(Duration.ofDays(2)));
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "window-sums");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, servers);
    properties.put(StreamsConfig.STATE_DIR_CONFIG, folder);
    properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
    properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, 2);
    // A killed member returns with the same id, so that the group does not wait for its session to
    // end.
    properties.put(StreamsConfig.consumerPrefix("group.instance.id"), "window-sums");
    properties.put(StreamsConfig.consumerPrefix("auto.offset.reset"), "earliest");
    // A slow machine must not count as dead.
    properties.put(StreamsConfig.producerPrefix("transaction.timeout.ms"), 60_000);
    KafkaStreams streams = new KafkaStreams(builder.build(), properties);
    streams.setGlobalStateRestoreListener(new StateRestoreListener() {
      @Override
      public void onRestoreStart(TopicPartition partition, String store, long first, long last) {}

      @Override
      public void onBatchRestored(TopicPartition partition, String store, long last, long count) {}

      @Override
      public void onRestoreEnd(TopicPartition partition, String store, long count) {
        restored.addAndGet(count);
      }
    });
    return streams;
  }

  /** The part of one window in a checksum that is a sum. */
  static long checksum(String key, long start, long value) {
    CRC32C checksum = new CRC32C();
    checksum.update((key + "@" + start + "=" + value).getBytes(StandardCharsets.UTF_8));
    return checksum.getValue();
  }

  private static KeyValueIterator<Windowed<String>, Long> all(KafkaStreams streams) {
    return streams
        .store(StoreQueryParameters.fromNameAndType(
            STORE, QueryableStoreTypes.<String, Long>windowStore()))
        .all();
  }

  private static String list(KafkaStreams streams) throws IOException {
    List<String> lines = new ArrayList<>();
    try (KeyValueIterator<Windowed<String>, Long> all = all(streams)) {
      while (all.hasNext()) {
        var entry = all.next();
        lines.add(entry.key.key() + "@" + entry.key.window().start() + "=" + entry.value);
      }
    }
    return Files.write(Files.createTempFile("windows", ".txt"), lines).toString();
  }

  private static String contents(KafkaStreams streams) {
    long windows = 0, sum = 0, checksum = 0;
    try (KeyValueIterator<Windowed<String>, Long> all = all(streams)) {
      while (all.hasNext()) {
        var entry = all.next();
        ++windows;
        sum += entry.value;
        checksum += checksum(entry.key.key(), entry.key.window().start(), entry.value);
      }
    }
    return windows + ":" + sum + ":" + checksum;
  }

  private static String answer(KafkaStreams streams, String command) {
    try {
      return switch (command) {
        case "running" -> (streams.state() == KafkaStreams.State.RUNNING) + ":" + restored;
        case "contents" -> contents(streams);
        default -> list(streams);
      };
    } catch (RuntimeException | IOException e) {
      return "failed: " + e.toString().replace('\n', ' ');
    }
  }

  /** Arguments: the broker's address and the folder of the stores. */
  public static void main(String[] arguments) throws Exception {
    KafkaStreams streams = open(arguments[0], arguments[1]);
    streams.start();
    System.out.println("> started");
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String command; (command = commands.readLine()) != null;)
      System.out.println("> " + answer(streams, command));
    streams.close(Duration.ofSeconds(20));
    System.exit(0);
  }
}
