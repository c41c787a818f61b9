import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** The nodes of a cluster: three members, and a fourth one that may join. One thread uses it. */
final class RheaNodes {
  /** What a node says of one of its regions. */
  record Region(
      long id, String state, boolean leads, long applied, long committed, String startKey) {}

  private static final long WAIT_NS = 300_000_000_000L;

  private final List<NodeProcess> members = new ArrayList<>();
  private final NodeProcess fourth;
  private int regions = 1;
  private int starts;
  private String servers;

  RheaNodes(Path root, ChildProcess.Library library) throws IOException {
    List<Integer> ports = freePorts(4);
    for (int i = 1; i <= 3; ++i) members.add(new NodeProcess(i, ports.get(i - 1), root, library));
    fourth = new NodeProcess(4, ports.get(3), root, library);
    servers = addresses();
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

  private String addresses() {
    return members.stream().map(NodeProcess::address).collect(Collectors.joining(","));
  }

  List<NodeProcess> members() {
    return members;
  }

  NodeProcess fourth() {
    return fourth;
  }

  /** The list that nodes and clients start with. */
  String servers() {
    return servers;
  }

  void setRegions(int count) {
    regions = count;
  }

  void startAll() throws Exception {
    for (NodeProcess node : members) node.start(servers);
    for (NodeProcess node : members) awaitStarted(node);
  }

  void start(NodeProcess node) throws Exception {
    node.start(servers);
    awaitStarted(node);
  }

  private void awaitStarted(NodeProcess node) throws Exception {
    if (!node.awaitStarted())
      throw new IllegalStateException("node " + node.number + " did not start: " + node.log());
    node.checkLibrary();
    node.checkListeners();
    ++starts;
  }

  /** Starts of nodes, each of which had the library that it was to have. */
  int starts() {
    return starts;
  }

  /** Node 4 starts without being a member of the group yet. */
  void startFourth() throws Exception {
    fourth.start(servers + "," + fourth.address());
    awaitStarted(fourth);
  }

  /** Node 4 takes the place of a member. Each node starts again with the new list. */
  void replace(NodeProcess member) throws Exception {
    member.quit();
    members.remove(member);
    servers = addresses();
    for (NodeProcess node : members) {
      node.quit();
      start(node);
      awaitCaughtUp(node);
    }
  }

  static List<Region> status(NodeProcess node) throws InterruptedException {
    List<Region> found = new ArrayList<>();
    for (String text : node.ask("status").split(" ")) {
      String[] parts = text.split(":", -1);
      if (parts.length != 6) return List.of();
      found.add(new Region(Long.parseLong(parts[0]), parts[1], Boolean.parseBoolean(parts[2]),
          Long.parseLong(parts[3]), Long.parseLong(parts[4]), parts[5]));
    }
    return found;
  }

  static boolean isInError(NodeProcess node) throws InterruptedException {
    return status(node).stream().anyMatch(region -> region.state.equals("STATE_ERROR"));
  }

  /** Waits until the node has applied all that is committed now. */
  void awaitCaughtUp(NodeProcess node) throws Exception {
    Map<Long, Long> committed = new HashMap<>();
    for (NodeProcess other : members) {
      if (other == node || !other.isAlive()) continue;
      for (Region region : status(other)) committed.merge(region.id, region.committed, Math::max);
    }
    long deadline = System.nanoTime() + WAIT_NS;
    while (System.nanoTime() < deadline) {
      Map<Long, Long> applied = new HashMap<>();
      for (Region region : status(node)) {
        if (!region.state.equals("STATE_ERROR")) applied.put(region.id, region.applied);
      }
      if (applied.size() >= regions
          && committed.entrySet().stream().allMatch(
              entry -> applied.getOrDefault(entry.getKey(), -1L) >= entry.getValue()))
        return;
      if (!node.isAlive())
        throw new IllegalStateException("node " + node.number + " ended: " + node.log());
      Thread.sleep(5);
    }
    throw new IllegalStateException(
        "node " + node.number + " does not catch up: " + node.ask("status") + ", " + node.log());
  }

  NodeProcess leader(long region) throws Exception {
    long deadline = System.nanoTime() + WAIT_NS;
    while (System.nanoTime() < deadline) {
      for (NodeProcess node : members) {
        if (node.isAlive()
            && status(node).stream().anyMatch(found -> found.id == region && found.leads))
          return node;
      }
      Thread.sleep(10);
    }
    throw new IllegalStateException("no node leads region " + region);
  }

  void snapshotAll() throws InterruptedException {
    for (NodeProcess node : members) {
      String answer = node.ask("snapshot");
      if (!answer.equals("ok"))
        throw new IllegalStateException(
            "node " + node.number + ": snapshot " + answer + ": " + node.log());
    }
  }

  /** Of a member, on average. */
  long diskBytes() throws IOException {
    long bytes = 0;
    for (NodeProcess node : members) bytes += node.diskBytes();
    return bytes / members.size();
  }

  long memoryBytes() throws IOException {
    long bytes = 0;
    for (NodeProcess node : members) bytes += node.memoryBytes();
    return bytes / members.size();
  }

  /** Of all members since they started. */
  double processorSeconds() {
    return members.stream().mapToDouble(NodeProcess::processorSeconds).sum();
  }

  /** Number and checksum of the entries at each member, at rest. */
  List<String> digests() throws Exception {
    List<String> digests = new ArrayList<>();
    for (NodeProcess node : members) awaitCaughtUp(node);
    for (NodeProcess node : members) digests.add(node.ask("digest"));
    return digests;
  }

  static int differing(List<String> digests) {
    return (int) digests.stream()
        .filter(digest -> !digest.equals(digests.get(0)) || !digest.matches("\\d+:[0-9a-f]+"))
        .count();
  }

  void killAll() throws InterruptedException {
    for (NodeProcess node : members) node.kill();
    fourth.kill();
  }
}
