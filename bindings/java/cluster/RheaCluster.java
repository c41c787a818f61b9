import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * RheaKV, unmodified, as processes on loopback addresses, with kill -9 under load. Three nodes hold one
 * region, a Raft group:
 *
 * <pre>
 *   load, measure, kill half of N nodes in turn
 *   add node 4, move the region from node 1 to it, restart the nodes with the new list of servers
 *   split the region in two, move the leader of the second, kill the other half in turn, kill all at once
 *   read everything back, judge the recorded history, compare the replicas byte for byte
 * </pre>
 *
 * Snapshots are taken before the first kill, at every third one, and before node 4 is added: by checkpoint.
 * After the split none are taken: RheaKV's snapshots of a part of the keys need ingestion of files, so the
 * nodes come back by the last snapshot and the log.
 */
public final class RheaCluster {
  private record Settings(int kills, int entries, int valueBytes, int threads, int keys, int seconds, long seed) {}

  private static final long SECOND_REGION = 2;
  private static final int TIMEOUT_MS = 3000;

  private final Settings settings;
  private final NodeProcess.Library library;
  private final Path root;
  private final Figures figures = new Figures();
  private final Values values;
  private final List<NodeProcess> members = new ArrayList<>();
  private final List<Long> recoveriesMs = new ArrayList<>();
  private final List<Long> outagesMs = new ArrayList<>();
  private String servers;
  private RheaClient client;
  private Workload workload;
  private int kills;
  private int regions = 1;

  private RheaCluster(Settings settings, NodeProcess.Library library, Path root) {
    this.settings = settings;
    this.library = library;
    this.root = root;
    values = new Values(settings.valueBytes);
  }

  private void say(String text) {
    System.out.printf("%s: %s%n", library.name(), text);
  }

  private static List<Integer> freePorts(int count) throws IOException {
    List<ServerSocket> sockets = new ArrayList<>();
    List<Integer> ports = new ArrayList<>();
    for (int i = 0; i < count; ++i) {
      ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
      sockets.add(socket);
      ports.add(socket.getLocalPort());
    }
    for (ServerSocket socket : sockets) socket.close();
    return ports;
  }

  private static String addresses(List<NodeProcess> nodes) {
    return nodes.stream().map(NodeProcess::address).collect(Collectors.joining(","));
  }

  // ---- Nodes

  private record Region(long id, String state, boolean leads, long applied, long committed, String startKey) {}

  private static List<Region> status(NodeProcess node) throws InterruptedException {
    List<Region> found = new ArrayList<>();
    for (String text : node.ask("status").split(" ")) {
      String[] parts = text.split(":", -1);
      if (parts.length != 6) return List.of();
      found.add(new Region(Long.parseLong(parts[0]), parts[1], Boolean.parseBoolean(parts[2]), Long.parseLong(parts[3]), Long.parseLong(parts[4]), parts[5]));
    }
    return found;
  }

  private void start(NodeProcess node, String initialServers) throws Exception {
    node.start(initialServers);
    if (!node.awaitStarted()) throw new IllegalStateException("node " + node.number + " did not start: " + node.log());
  }

  /** Waits until the node has applied all that is committed now. */
  private void awaitCaughtUp(NodeProcess node) throws Exception {
    Map<Long, Long> committed = new HashMap<>();
    for (NodeProcess other : members) {
      if (other == node || !other.isAlive()) continue;
      for (Region region : status(other)) committed.merge(region.id, region.committed, Math::max);
    }
    long deadline = System.nanoTime() + 120_000_000_000L;
    while (System.nanoTime() < deadline) {
      Map<Long, Long> applied = new HashMap<>();
      for (Region region : status(node)) {
        if (!region.state.equals("STATE_ERROR")) applied.put(region.id, region.applied);
      }
      if (applied.size() >= regions && committed.entrySet().stream().allMatch(entry -> applied.getOrDefault(entry.getKey(), -1L) >= entry.getValue())) return;
      if (!node.isAlive()) throw new IllegalStateException("node " + node.number + " ended: " + node.log());
      Thread.sleep(5);
    }
    throw new IllegalStateException("node " + node.number + " does not catch up: " + node.ask("status") + ", " + node.log());
  }

  private NodeProcess leader(long region) throws Exception {
    long deadline = System.nanoTime() + 60_000_000_000L;
    while (System.nanoTime() < deadline) {
      for (NodeProcess node : members) {
        if (node.isAlive() && status(node).stream().anyMatch(found -> found.id == region && found.leads)) return node;
      }
      Thread.sleep(10);
    }
    throw new IllegalStateException("no node leads region " + region);
  }

  /** A minute without any success means that the cluster is gone. */
  private long awaitSuccessAfter(long time) throws InterruptedException {
    while (workload.lastSuccess() < time) {
      if (System.nanoTime() - time > 60_000_000_000L) throw new IllegalStateException("no operation succeeded for a minute");
      Thread.sleep(1);
    }
    return workload.lastSuccess();
  }

  private void killOne(NodeProcess node) throws Exception {
    boolean leads = status(node).stream().anyMatch(Region::leads);
    node.kill();
    ++kills;
    long killed = System.nanoTime();
    if (leads) {
      // What succeeded just after the kill may have been answered before it.
      Thread.sleep(50);
      outagesMs.add((awaitSuccessAfter(killed + 50_000_000) - killed) / 1_000_000);
    } else {
      awaitSuccessAfter(killed + 50_000_000);
    }
    Thread.sleep(500);
    start(node, servers);
    awaitCaughtUp(node);
    recoveriesMs.add((System.nanoTime() - node.startedAt()) / 1_000_000);
    awaitSuccessAfter(System.nanoTime());
  }

  private void killInTurn(int count) throws Exception {
    for (int i = 0; i < count; ++i) {
      killOne(members.get(i % members.size()));
      if (regions == 1 && i % 3 == 2) snapshotAll();
    }
    say(kills + " kills, " + workload.acknowledged() + " operations, " + workload.unknown() + " writes of unknown outcome");
  }

  private void snapshotAll() throws InterruptedException {
    for (NodeProcess node : members) {
      String answer = node.ask("snapshot");
      if (!answer.equals("ok")) throw new IllegalStateException("node " + node.number + ": snapshot " + answer + ": " + node.log());
    }
  }

  // ---- The scenario

  private void openCluster() throws Exception {
    List<Integer> ports = freePorts(4);
    for (int i = 1; i <= 4; ++i) members.add(new NodeProcess(i, ports.get(i - 1), root, library));
    NodeProcess fourth = members.remove(3);
    servers = addresses(members);
    for (NodeProcess node : members) node.start(servers);
    for (NodeProcess node : members) {
      if (!node.awaitStarted()) throw new IllegalStateException("node " + node.number + " did not start: " + node.log());
    }
    leader(RheaClient.FIRST_REGION);
    client = new RheaClient(servers, TIMEOUT_MS);
    say("three nodes, " + servers);
    String mapped = members.get(0).mappedLibrary();
    say("/proc/" + members.get(0).pid() + "/maps: " + mapped);
    if (library.folder() != null && !mapped.endsWith("libashlarjni.so")) throw new IllegalStateException("another library is loaded than the one in " + library.folder());
    this.fourth = fourth;
  }

  private NodeProcess fourth;

  /** As many puts at once as the window; each is repeated until it is acknowledged, which a load may do. */
  private void load() throws Exception {
    long begin = System.nanoTime();
    ArrayDeque<Map.Entry<Integer, CompletableFuture<Boolean>>> window = new ArrayDeque<>();
    for (int i = 0; i < settings.entries || !window.isEmpty();) {
      if (i < settings.entries && window.size() < 64) {
        window.add(Map.entry(i, putEntry(i)));
        ++i;
        continue;
      }
      Map.Entry<Integer, CompletableFuture<Boolean>> oldest = window.remove();
      try {
        oldest.getValue().get();
      } catch (java.util.concurrent.ExecutionException e) {
        client.findLeader(Values.key(oldest.getKey(), 'd'));
        window.add(Map.entry(oldest.getKey(), putEntry(oldest.getKey())));
      }
    }
    double seconds = (System.nanoTime() - begin) / 1e9;
    figures.put("load, entries/s", settings.entries / seconds);
    say(String.format("loaded %d entries of %d bytes in %.1f s", settings.entries, settings.valueBytes, seconds));
  }

  private CompletableFuture<Boolean> putEntry(int i) {
    return RheaClient.call(() -> client.store().put(Values.key(i, 'd'), values.encode(-1 - i)));
  }

  /** Entries of the load that are missing or wrong. */
  private long verifyLoad() throws Exception {
    long wrong = 0;
    for (int begin = 0; begin < settings.entries; begin += 64) {
      int end = Math.min(begin + 64, settings.entries);
      List<CompletableFuture<byte[]>> window = new ArrayList<>();
      for (int i = begin; i < end; ++i) window.add(getEntry(i));
      for (int i = begin; i < end; ++i) {
        byte[] value = null;
        for (CompletableFuture<byte[]> future = window.get(i - begin);;) {
          try {
            value = future.get();
            break;
          } catch (java.util.concurrent.ExecutionException e) {
            client.findLeader(Values.key(i, 'd'));
            future = getEntry(i);
          }
        }
        if (!Arrays.equals(value, values.encode(-1 - i))) ++wrong;
      }
    }
    return wrong;
  }

  private CompletableFuture<byte[]> getEntry(int i) {
    return RheaClient.call(() -> client.store().get(Values.key(i, 'd')));
  }

  private void measure() throws Exception {
    Thread.sleep(1000L * settings.seconds / 4);
    workload.takeLatencies();
    long begin = System.nanoTime(), before = workload.acknowledged();
    Thread.sleep(1000L * settings.seconds);
    double seconds = (System.nanoTime() - begin) / 1e9;
    long operations = workload.acknowledged() - before;
    long[] latencies = workload.takeLatencies();
    figures.put("mixed load, operations/s", operations / seconds);
    for (double percentile : new double[] {50, 95, 99, 99.9}) {
      figures.put("mixed load, latency p" + (percentile % 1 == 0 ? Integer.toString((int) percentile) : percentile) + ", ms", percentile(latencies, percentile) / 1e6);
    }
    say(String.format("%.0f operations/s from %d threads", operations / seconds, settings.threads));
  }

  private static double percentile(long[] sorted, double percentile) {
    if (sorted.length == 0) return 0;
    return sorted[(int) Math.min(sorted.length - 1L, Math.round(sorted.length * percentile / 100))];
  }

  private void moveRegion() throws Exception {
    snapshotAll();
    snapshotAll();  // the log is cut at the one before the last, so that node 4 needs the snapshot
    NodeProcess first = members.get(0);
    fourth.start(servers + "," + fourth.address());
    if (!fourth.awaitStarted()) throw new IllegalStateException("node 4 did not start: " + fourth.log());
    long begin = System.nanoTime();
    client.addReplica(RheaClient.FIRST_REGION, fourth);
    members.add(fourth);
    awaitCaughtUp(fourth);
    figures.put("node 4 joins, ms", (System.nanoTime() - begin) / 1e6);
    if (leader(RheaClient.FIRST_REGION) == first) client.transferLeader(RheaClient.FIRST_REGION, fourth);
    client.removeReplica(RheaClient.FIRST_REGION, first);
    members.remove(first);
    first.quit();
    servers = addresses(members);
    for (NodeProcess node : members) {
      node.quit();
      start(node, servers);
      awaitCaughtUp(node);
    }
    say("the region moved from node 1 to node 4, and each node restarted with the new list");
  }

  /** No operation is on its way meanwhile: RheaKV checks a region's epoch when it accepts one, not when it applies it. */
  private void splitRegion() throws Exception {
    workload.pause();
    client.findLeader(new byte[0]);
    client.split(RheaClient.FIRST_REGION, SECOND_REGION);
    regions = 2;
    NodeProcess second = leader(SECOND_REGION);
    byte[] start = HexFormat.of().parseHex(status(second).stream().filter(region -> region.id == SECOND_REGION).findFirst().orElseThrow().startKey);
    client.addRegion(RheaClient.FIRST_REGION, SECOND_REGION, start);
    for (NodeProcess node : members) awaitCaughtUp(node);
    NodeProcess first = leader(RheaClient.FIRST_REGION);
    if (leader(SECOND_REGION) == first) {
      NodeProcess other = members.get((members.indexOf(first) + 1) % members.size());
      client.transferLeader(SECOND_REGION, other);
    }
    workload.resume();
    say("the region was split at " + new String(start) + ", and the halves are led by nodes " + first.number + " and " + leader(SECOND_REGION).number);
  }

  private void killAll() throws Exception {
    for (NodeProcess node : members) node.kill();
    kills += members.size();
    long begin = System.nanoTime();
    for (NodeProcess node : members) node.start(servers);
    for (NodeProcess node : members) {
      if (!node.awaitStarted()) throw new IllegalStateException("node " + node.number + " did not start: " + node.log());
    }
    figures.put("all nodes killed, service after, ms", (awaitSuccessAfter(begin) - begin) / 1e6);
    for (NodeProcess node : members) awaitCaughtUp(node);
  }

  private long disk() throws IOException {
    long bytes = 0;
    for (NodeProcess node : members) bytes += node.diskBytes();
    return bytes / members.size();
  }

  /** The number of replicas whose bytes differ from the first one's. */
  private int compareReplicas() throws Exception {
    for (NodeProcess node : members) awaitCaughtUp(node);
    List<String> digests = new ArrayList<>();
    for (NodeProcess node : members) digests.add(node.ask("digest"));
    say("replicas, entries:checksum: " + digests);
    return (int) digests.stream().filter(digest -> !digest.equals(digests.get(0)) || digest.startsWith("failed")).count();
  }

  private boolean run() throws Exception {
    long begin = System.nanoTime();
    openCluster();
    load();
    snapshotAll();
    figures.put("disk after the load, MB a node", disk() / 1e6);
    workload = new Workload(client, values, settings.keys);
    workload.start(settings.threads, settings.seed);
    measure();
    killInTurn((settings.kills + 1) / 2);
    moveRegion();
    splitRegion();
    killInTurn(settings.kills / 2);
    killAll();
    workload.stop();
    long wrong = verifyLoad();
    Workload.Judgement judgement = workload.judge();
    int different = compareReplicas();
    figures.put("memory at the end, MB a node", members.stream().mapToLong(RheaCluster::memory).average().orElse(0) / 1e6);
    figures.put("disk at the end, MB a node", disk() / 1e6);
    recoveriesMs.sort(null);
    outagesMs.sort(null);
    figures.put("killed node back and caught up, median ms", median(recoveriesMs));
    figures.put("killed node back and caught up, longest ms", recoveriesMs.isEmpty() ? 0 : recoveriesMs.get(recoveriesMs.size() - 1));
    figures.put("killed leader, next success, median ms", median(outagesMs));
    figures.put("kills", kills);
    figures.put("operations judged", judgement.operations());
    figures.put("acknowledged writes lost", judgement.lost() + wrong);
    figures.put("keys not linearizable", judgement.violated() + judgement.undecided());
    figures.put("values damaged", workload.damaged());
    figures.put("replicas that differ", different);
    figures.put("seconds in all", (System.nanoTime() - begin) / 1e9);
    for (String finding : judgement.findings().stream().limit(5).toList()) say(finding);
    say(String.format("%d kills; %d operations on %d keys judged: %d acknowledged writes lost, %d keys not linearizable, %d not decided; %d replicas differ", kills,
        judgement.operations(), judgement.keys(), judgement.lost() + wrong, judgement.violated(), judgement.undecided(), different));
    return judgement.lost() + wrong + judgement.violated() + judgement.undecided() + workload.damaged() + different == 0;
  }

  private static long memory(NodeProcess node) {
    try {
      return node.memoryBytes();
    } catch (IOException e) {
      return 0;
    }
  }

  private static double median(List<Long> sorted) {
    return sorted.isEmpty() ? 0 : sorted.get(sorted.size() / 2);
  }

  private void close() throws Exception {
    if (workload != null) workload.stop();
    for (NodeProcess node : members) {
      if (node.isAlive()) node.kill();
    }
    if (fourth != null && fourth.isAlive()) fourth.kill();
    if (client != null) client.close();
  }

  private static void delete(Path path) throws IOException {
    try (Stream<Path> files = Files.walk(path)) {
      for (Path file : (Iterable<Path>) files.sorted(Comparator.reverseOrder())::iterator) Files.delete(file);
    }
  }

  /** Arguments: name of the library, its folder or -, where to write the figures, kills, and quick or full. */
  public static void main(String[] arguments) throws Exception {
    NodeProcess.Library library = new NodeProcess.Library(arguments[0], arguments[1].equals("-") ? null : arguments[1]);
    boolean quick = arguments[4].equals("quick");
    Settings settings = new Settings(Integer.parseInt(arguments[3]), quick ? 20_000 : 100_000, 256, 8, 2000, quick ? 5 : 15, 42);
    Path root = Files.createTempDirectory("ashlar-rheakv");
    System.setProperty("org.slf4j.simpleLogger.logFile", root.resolve("client.log").toString());
    System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", "warn");
    System.setProperty("user.home", root.toString());  // where a library of RheaKV's makes a folder of logs
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
      delete(root);
    } else {
      System.out.println("the nodes' files and logs are in " + root);
    }
    System.exit(right ? 0 : 1);
  }
}
