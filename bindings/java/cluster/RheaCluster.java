import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/**
 * RheaKV, unmodified, as processes on loopback addresses, with kill -9 under load. Three nodes hold
 * one region, a Raft group:
 *
 * <pre>
 *   load, measure, kill in turn two thirds of N times
 *   add node 4, move the region from node 1 to it, restart the nodes with the new list of servers
 *   split the region in two, move the leader of the second, kill in turn the other third
 *   kill all at once
 *   read everything back, judge the recorded history, compare the replicas byte for byte
 * </pre>
 *
 * Snapshots are taken after the load, at every third kill, and before node 4 is added: by
 * checkpoint. After the split none are taken: RheaKV tells at its start, by the regions that a node
 * is started with, how to read a snapshot, and these nodes are started with one region of all keys.
 * They come back by the last snapshot and the log.
 *
 * <p>Before the first kill, between two kills, and after the last one the load acknowledges
 * operations: a run in which it does not has shown nothing, and fails.
 */
public final class RheaCluster {
  record Settings(
      int kills, int entries, int valueBytes, int threads, int keys, int seconds, long seed) {
    /** size: ci, normal or full. */
    static Settings of(String size, int kills) {
      return switch (size) {
        case "ci" -> new Settings(kills, 2_000, 256, 4, 2000, 2, 42);
        case "normal" -> new Settings(kills, 10_000, 256, 4, 2000, 5, 42);
        case "full" -> new Settings(kills, 50_000, 256, 4, 2000, 15, 42);
        default -> throw new IllegalArgumentException("there is no size '" + size + "'");
      };
    }
  }

  static final int TIMEOUT_MS = 3000;
  private static final long SECOND_REGION = 2;
  private static final long SERVICE_WAIT_NS = 300_000_000_000L;
  private static final long LOAD_WAIT_NS = 60_000_000_000L;

  private final Settings settings;
  private final ChildProcess.Library library;
  private final RheaNodes nodes;
  private final Figures figures = new Figures();
  private final List<Long> recoveriesMs = new ArrayList<>();
  private final List<Long> outagesMs = new ArrayList<>();
  private RheaClient client;
  private Entries entries;
  private Workload workload;
  private Progress progress;
  private byte[] splitKey;
  private int kills;

  private RheaCluster(Settings settings, ChildProcess.Library library, Path root)
      throws IOException {
    this.settings = settings;
    this.library = library;
    nodes = new RheaNodes(root, library);
  }

  private void say(String text) {
    System.out.printf("%s: %s%n", library.name(), text);
  }

  private void open() throws Exception {
    nodes.startAll();
    nodes.leader(RheaClient.FIRST_REGION);
    client = new RheaClient(nodes.servers(), TIMEOUT_MS);
    say("three nodes, " + nodes.servers());
    sayLibraries();
  }

  private void sayLibraries() throws IOException {
    for (NodeProcess node : nodes.members())
      say("node " + node.number + ": /proc/" + node.pid() + "/maps: " + node.mappedLibrary());
  }

  private void load(Values values) throws Exception {
    entries = new Entries(client, values, 0, settings.entries);
    long begin = System.nanoTime();
    double processor = nodes.processorSeconds();
    entries.load();
    double seconds = (System.nanoTime() - begin) / 1e9;
    figures.put("load, entries/s", settings.entries / seconds);
    figures.put("load, processor time of the nodes, µs an entry",
        (nodes.processorSeconds() - processor) / settings.entries * 1e6);
    say(String.format(
        "loaded %d entries of %d bytes in %.1f s", settings.entries, settings.valueBytes, seconds));
  }

  private void measure() throws Exception {
    Thread.sleep(1000L * settings.seconds / 4);
    for (Workload.Kind kind : Workload.Kind.values()) workload.takeLatencies(kind);
    long begin = System.nanoTime(), before = workload.acknowledged();
    double processor = nodes.processorSeconds();
    Thread.sleep(1000L * settings.seconds);
    long operations = workload.acknowledged() - before;
    if (operations == 0)
      throw new IllegalStateException(
          "the workload acknowledged nothing in " + settings.seconds + " s");
    double rate = operations / ((System.nanoTime() - begin) / 1e9);
    figures.put("mixed, operations/s", rate);
    figures.put("mixed, processor time of the nodes, µs an operation",
        (nodes.processorSeconds() - processor) / operations * 1e6);
    for (Workload.Kind kind : Workload.Kind.values()) {
      long[] latencies = workload.takeLatencies(kind);
      for (double part : new double[] {0.5, 0.95, 0.99, 0.999}) {
        double latency = latencies.length == 0
            ? 0
            : latencies[(int) Math.min(latencies.length - 1L, (long) (latencies.length * part))];
        figures.put(String.format("mixed, %s, %s %%, ms", kind.toString().toLowerCase(),
                        Double.toString(100 * part).replaceAll("\\.0$", "")),
            latency / 1e6);
      }
    }
    say(String.format("%.0f operations/s from %d threads", rate, settings.threads));
  }

  /** The time in ms until a region serves again. */
  private long awaitService(byte[] key, long since) throws Exception {
    while (!client.serves(key)) {
      if (System.nanoTime() - since > SERVICE_WAIT_NS)
        throw new IllegalStateException("no service for five minutes");
      Thread.sleep(2);
    }
    return (System.nanoTime() - since) / 1_000_000;
  }

  private byte[] keyOf(long region) {
    return region == SECOND_REGION ? splitKey : new byte[] {'0'};
  }

  private void killOne(NodeProcess node) throws Exception {
    progress.await();
    List<RheaNodes.Region> regions = RheaNodes.status(node);
    node.kill();
    progress.mark();
    long killed = System.nanoTime();
    ++kills;
    for (RheaNodes.Region region : regions) {
      long outage = awaitService(keyOf(region.id()), killed);
      if (region.leads()) outagesMs.add(outage);
    }
    Thread.sleep(500);
    nodes.start(node);
    nodes.awaitCaughtUp(node);
    recoveriesMs.add((System.nanoTime() - node.startedAt()) / 1_000_000);
  }

  private void killInTurn(int count) throws Exception {
    for (int i = 0; i < count; ++i) {
      killOne(nodes.members().get(i % nodes.members().size()));
      if (splitKey == null && i % 3 == 2) nodes.snapshotAll();
    }
    say(kills + " kills, " + workload.acknowledged() + " operations, " + workload.unknown()
        + " writes of unknown outcome");
  }

  private void moveRegion() throws Exception {
    nodes.snapshotAll();
    // Truncates the log at the last snapshot but one, so that node 4 needs the snapshot.
    nodes.snapshotAll();
    NodeProcess first = nodes.members().get(0), fourth = nodes.fourth();
    nodes.startFourth();
    long begin = System.nanoTime();
    client.addReplica(RheaClient.FIRST_REGION, fourth);
    nodes.members().add(fourth);
    nodes.awaitCaughtUp(fourth);
    figures.put("node 4 joins, ms", (System.nanoTime() - begin) / 1e6);
    if (nodes.leader(RheaClient.FIRST_REGION) == first)
      client.transferLeader(RheaClient.FIRST_REGION, fourth);
    client.removeReplica(RheaClient.FIRST_REGION, first);
    nodes.replace(first);
    say("the region moved from node 1 to node 4, and each node restarted with the new list");
  }

  /**
   * No operation is on its way meanwhile: RheaKV checks a region's epoch when it accepts one, not
   * when it applies it.
   */
  private void splitRegion() throws Exception {
    workload.pause();
    client.findLeader(keyOf(RheaClient.FIRST_REGION));
    client.split(RheaClient.FIRST_REGION, SECOND_REGION);
    nodes.setRegions(2);
    NodeProcess second = nodes.leader(SECOND_REGION);
    splitKey = HexFormat.of().parseHex(RheaNodes.status(second)
            .stream()
            .filter(region -> region.id() == SECOND_REGION)
            .findFirst()
            .orElseThrow()
            .startKey());
    client.addRegion(RheaClient.FIRST_REGION, SECOND_REGION, splitKey);
    for (NodeProcess node : nodes.members()) nodes.awaitCaughtUp(node);
    NodeProcess first = nodes.leader(RheaClient.FIRST_REGION);
    if (nodes.leader(SECOND_REGION) == first) {
      client.transferLeader(SECOND_REGION,
          nodes.members().get((nodes.members().indexOf(first) + 1) % nodes.members().size()));
    }
    workload.resume();
    say("the region was split at " + new String(splitKey) + ", and the halves are led by nodes "
        + first.number + " and " + nodes.leader(SECOND_REGION).number);
  }

  private void killEverything() throws Exception {
    progress.await();
    nodes.killAll();
    progress.mark();
    kills += nodes.members().size();
    long begin = System.nanoTime();
    nodes.startAll();
    awaitService(keyOf(RheaClient.FIRST_REGION), begin);
    figures.put("all nodes killed, both regions serve after, ms", awaitService(splitKey, begin));
    for (NodeProcess node : nodes.members()) nodes.awaitCaughtUp(node);
    progress.await();
  }

  private boolean run() throws Exception {
    long begin = System.nanoTime();
    Values values = new Values(settings.valueBytes);
    open();
    load(values);
    nodes.snapshotAll();
    figures.put("disk after the load, MB a node", nodes.diskBytes() / 1e6);
    workload = new Workload(client, values, settings.keys);
    workload.start(settings.threads, settings.seed);
    progress = new Progress(workload::acknowledged, LOAD_WAIT_NS);
    measure();
    killInTurn(settings.kills - settings.kills / 3);
    moveRegion();
    splitRegion();
    killInTurn(settings.kills / 3);
    killEverything();
    workload.stop();
    long wrong = entries.countWrong();
    Workload.Judgement judgement = workload.judge();
    List<String> digests = nodes.digests();
    int different = RheaNodes.differing(digests);
    say("replicas, entries:checksum: " + digests);
    sayLibraries();
    figures.put("memory at the end, MB a node", nodes.memoryBytes() / 1e6);
    figures.put("disk at the end, MB a node", nodes.diskBytes() / 1e6);
    recoveriesMs.sort(null);
    outagesMs.sort(null);
    figures.put("killed node back and caught up, median ms", median(recoveriesMs));
    figures.put("killed node back and caught up, longest ms",
        recoveriesMs.isEmpty() ? 0 : recoveriesMs.get(recoveriesMs.size() - 1));
    figures.put("killed leader, its region serves after, median ms", median(outagesMs));
    figures.put("kills", kills);
    figures.put("leaders of a region among them", outagesMs.size());
    figures.put("starts of nodes, each with its library looked up", nodes.starts());
    figures.put("operations judged", judgement.operations());
    figures.put("of them writes of unknown outcome", workload.unknown());
    figures.put("acknowledged writes lost", judgement.lost() + wrong);
    figures.put("keys not linearizable", judgement.violated() + judgement.undecided());
    figures.put("values damaged", workload.damaged());
    figures.put("replicas that differ", different);
    figures.put("seconds in all", (System.nanoTime() - begin) / 1e9);
    for (String finding : judgement.findings().stream().limit(5).toList()) say(finding);
    say(String.format("%d kills; %d operations on %d keys judged: %d acknowledged writes lost, %d "
            + "keys not linearizable, %d not decided; %d replicas differ",
        kills, judgement.operations(), judgement.keys(), judgement.lost() + wrong,
        judgement.violated(), judgement.undecided(), different));
    long faults = judgement.lost() + wrong + judgement.violated() + judgement.undecided()
        + workload.damaged() + different;
    return faults == 0;
  }

  private static double median(List<Long> sorted) {
    return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
  }

  private void close() throws Exception {
    try {
      if (workload != null) workload.stop();
    } finally {
      nodes.killAll();
      if (client != null) client.close();
    }
  }

  /** Logs of the client and of what it uses go to files in the folder. */
  static void redirectLogs(Path root) {
    System.setProperty("org.slf4j.simpleLogger.logFile", root.resolve("client.log").toString());
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    // A library that RheaKV uses creates a folder of logs here.
    System.setProperty("user.home", root.toString());
  }

  /**
   * Arguments: name of the library, its folder or -, where to write the figures, kills, and ci,
   * normal or full.
   */
  public static void main(String[] arguments) throws Exception {
    ChildProcess.Library library =
        new ChildProcess.Library(arguments[0], arguments[1].equals("-") ? null : arguments[1]);
    Settings settings = Settings.of(arguments[4], Integer.parseInt(arguments[3]));
    Path root = Files.createTempDirectory("ashlar-rheakv");
    redirectLogs(root);
    RheaCluster cluster = new RheaCluster(settings, library, root);
    boolean right = false;
    try {
      right = cluster.run();
    } catch (Exception e) {
      e.printStackTrace(System.out);
    }
    try {
      cluster.close();
    } catch (Exception e) {
      e.printStackTrace(System.out);
      right = false;
    }
    cluster.figures.write(Path.of(arguments[2]));
    if (right) {
      ChildProcess.delete(root);
    } else {
      System.out.println("the nodes' files and logs are in " + root);
    }
    System.exit(right ? 0 : 1);
  }
}
