import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.LongSerializer;
import org.apache.kafka.common.serialization.StringSerializer;

/**
 * Kafka Streams, unmodified, with a broker: the application of WindowApplication is killed while
 * records come, starts again, restores its store, and must arrive at the sums of a model, exactly.
 */
public final class StreamsRestore {
  private static final int KEYS = 2000;
  private static final int PARTITIONS = 4;
  private static final long WAIT_NS = 180_000_000_000L;

  private final ChildProcess.Library library;
  private final int kills;
  private final int recordsBetween;
  private final Path root;
  private final Figures figures = new Figures();
  private final Map<String, Long> model = new HashMap<>();
  private final Random random = new Random(42);
  // Close to the present, because the broker deletes records that are older than the retention of
  // their topic.
  private final long firstTime = System.currentTimeMillis() / WindowApplication.WINDOW.toMillis()
      * WindowApplication.WINDOW.toMillis();
  private final List<Long> restoresMs = new ArrayList<>();
  private long restored;
  private long sent;
  private ChildProcess broker;
  private ChildProcess application;
  private String address;

  private StreamsRestore(ChildProcess.Library library, int kills, int recordsBetween, Path root) {
    this.library = library;
    this.kills = kills;
    this.recordsBetween = recordsBetween;
    this.root = root;
  }

  private static int recordsOf(String size) {
    return switch (size) {
      case "ci" -> 5_000;
      case "normal" -> 20_000;
      case "full" -> 100_000;
      default -> throw new IllegalArgumentException("there is no size '" + size + "'");
    };
  }

  private void say(String text) {
    System.out.printf("%s: %s%n", library.name(), text);
  }

  private static int freePort() throws IOException {
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      return socket.getLocalPort();
    }
  }

  private void openBroker() throws Exception {
    int port = freePort(), controllerPort = freePort();
    address = "127.0.0.1:" + port;
    broker = new ChildProcess(root, "broker", new ChildProcess.Library("none", null));
    broker.launch(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"), "Broker",
        List.of(
            Integer.toString(port), Integer.toString(controllerPort), broker.folder.toString()));
    if (!broker.awaitStarted())
      throw new IllegalStateException("the broker did not start: " + broker.log());
    try (Admin admin = Admin.create(Map.of("bootstrap.servers", address))) {
      admin.createTopics(List.of(new NewTopic(WindowApplication.INPUT, PARTITIONS, (short) 1)))
          .all()
          .get();
    }
    broker.checkListeners();
  }

  /**
   * Starts the application and waits until it runs. Returns the number of entries that were
   * restored.
   */
  private long start() throws Exception {
    application.launch(List.of("-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC"),
        "WindowApplication", List.of(address, application.folder.toString()));
    if (!application.awaitStarted())
      throw new IllegalStateException("the application did not start: " + application.log());
    long count = awaitRunning();
    application.checkListeners();
    return count;
  }

  /** Returns the number of entries that were restored. */
  private long awaitRunning() throws Exception {
    long deadline = System.nanoTime() + WAIT_NS;
    while (System.nanoTime() < deadline) {
      String[] answer = application.ask("running").split(":");
      if (answer[0].equals("true")) return Long.parseLong(answer[1]);
      if (!application.isAlive())
        throw new IllegalStateException("the application ended: " + application.log());
      Thread.sleep(20);
    }
    throw new IllegalStateException("the application does not run: " + application.log());
  }

  private void send(KafkaProducer<String, Long> producer, int records) throws Exception {
    List<Future<RecordMetadata>> sending = new ArrayList<>();
    for (int i = 0; i < records; ++i, ++sent) {
      String key = "key" + random.nextInt(KEYS);
      long value = random.nextInt(1000), time = firstTime + sent * 5;
      sending.add(
          producer.send(new ProducerRecord<>(WindowApplication.INPUT, null, time, key, value)));
      model.merge(key + "@"
              + time / WindowApplication.WINDOW.toMillis() * WindowApplication.WINDOW.toMillis(),
          value, Long::sum);
    }
    for (Future<RecordMetadata> record : sending) record.get();
  }

  private String expected() {
    long sum = 0, checksum = 0;
    for (Map.Entry<String, Long> window : model.entrySet()) {
      String[] parts = window.getKey().split("@");
      sum += window.getValue();
      checksum += WindowApplication.checksum(parts[0], Long.parseLong(parts[1]), window.getValue());
    }
    return model.size() + ":" + sum + ":" + checksum;
  }

  /** Prints the first windows that differ. */
  private void explain() throws Exception {
    Map<String, Long> missing = new TreeMap<>(model);
    List<String> findings = new ArrayList<>();
    for (String line : Files.readAllLines(Path.of(application.ask("list")))) {
      String[] parts = line.split("=");
      Long wanted = missing.remove(parts[0]);
      if (wanted == null || wanted != Long.parseLong(parts[1]))
        findings.add("the store has " + line + ", the model " + wanted);
    }
    missing.forEach((window, value) -> findings.add("the store lacks " + window + "=" + value));
    findings.stream().limit(5).forEach(this::say);
  }

  /** Waits until the store has what the model has. Returns whether it does. */
  private boolean awaitContents() throws Exception {
    String wanted = expected(), got = "";
    for (long deadline = System.nanoTime() + WAIT_NS; System.nanoTime() < deadline;
        Thread.sleep(100)) {
      got = application.ask("contents");
      if (got.equals(wanted)) return true;
    }
    say("the store has windows:sum:checksum " + got + ", the model " + wanted);
    explain();
    return false;
  }

  private boolean run() throws Exception {
    openBroker();
    application = new ChildProcess(root, "application", library);
    start();
    Properties properties = new Properties();
    properties.put("bootstrap.servers", address);
    properties.put("linger.ms", 5);
    properties.put("delivery.timeout.ms", 600_000);
    try (KafkaProducer<String, Long> producer =
             new KafkaProducer<>(properties, new StringSerializer(), new LongSerializer())) {
      long begin = System.nanoTime();
      double processor = application.processorSeconds();
      send(producer, recordsBetween);
      if (!awaitContents()) return false;
      figures.put("processor time of the application, µs a record",
          (application.processorSeconds() - processor) / recordsBetween * 1e6);
      figures.put(
          "records/s into the windows", recordsBetween / ((System.nanoTime() - begin) / 1e9));
      application.checkLibrary();
      say("/proc/" + application.pid() + "/maps: " + application.mappedLibrary());
      for (int i = 0; i < kills; ++i) {
        send(producer, recordsBetween / 2);
        application.kill();
        send(producer, recordsBetween / 2);
        restored += start();
        application.checkLibrary();
        restoresMs.add((System.nanoTime() - application.startedAt()) / 1_000_000);
      }
      send(producer, recordsBetween / 2);
    }
    boolean right = awaitContents();
    restoresMs.sort(null);
    figures.put("kills", kills);
    figures.put("records", sent);
    figures.put("windows", model.size());
    figures.put("entries restored", restored);
    figures.put("start to running with the store restored, median ms",
        restoresMs.isEmpty() ? 0 : restoresMs.get(restoresMs.size() / 2));
    figures.put("disk, MB", application.diskBytes() / 1e6);
    figures.put("memory, MB", application.memoryBytes() / 1e6);
    figures.put("store differs from the model", right ? 0 : 1);
    say(String.format(
        "%d records into %d windows, %d kills, %d entries restored: the store %s the model", sent,
        model.size(), kills, restored, right ? "equals" : "differs from"));
    // A store that was not lost would equal the model too.
    boolean hasRestored = kills == 0 || restored > 0;
    if (!hasRestored) say("nothing was restored after a kill");
    return right && hasRestored;
  }

  private void close() throws Exception {
    if (application != null) application.kill();
    if (broker != null) broker.kill();
  }

  /**
   * Arguments: name of the library, its folder or -, where to write the figures, kills, and ci,
   * normal or full.
   */
  public static void main(String[] arguments) throws Exception {
    ChildProcess.Library library =
        new ChildProcess.Library(arguments[0], arguments[1].equals("-") ? null : arguments[1]);
    Path root = Files.createTempDirectory("ashlar-streams");
    System.setProperty("org.slf4j.simpleLogger.logFile", root.resolve("client.log").toString());
    StreamsRestore test =
        new StreamsRestore(library, Integer.parseInt(arguments[3]), recordsOf(arguments[4]), root);
    boolean right = false;
    try {
      right = test.run();
    } catch (Exception e) {
      e.printStackTrace(System.out);
    } finally {
      test.close();
    }
    test.figures.write(Path.of(arguments[2]));
    if (right) {
      ChildProcess.delete(root);
    } else {
      System.out.println("the files and logs are in " + root);
    }
    System.exit(right ? 0 : 1);
  }
}
