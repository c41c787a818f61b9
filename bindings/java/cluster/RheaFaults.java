import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.CRC32C;

/**
 * One node of three meets a full disk, a damaged table, another node's folder, a second process in
 * its folder, an older version of the library. Each time: the node says in its log what is wrong,
 * the others go on, the node comes back when the cause is gone, and no acknowledged write is lost.
 * A folder of another node that bears this node's name is not noticed: it holds what a replica may
 * hold, and nothing is lost.
 */
public final class RheaFaults {
  private interface Scenario {
    void run(RheaFaults cluster) throws Exception;
  }

  private static final int DISK_MEGABYTES = 16;

  private final RheaNodes nodes;
  private final NodeProcess victim;
  private final RheaClient client;
  private final Values values = new Values(1000);
  private final List<Entries> loaded = new ArrayList<>();
  private int entries;

  private RheaFaults(Path root, ChildProcess.Library library, boolean smallDisk) throws Exception {
    nodes = new RheaNodes(root, library);
    victim = nodes.members().get(2);
    if (smallDisk) {
      Files.createDirectories(victim.folder);
      execute("mount", "-t", "tmpfs", "-o", "size=" + DISK_MEGABYTES + "m", "tmpfs",
          victim.folder.toString());
    }
    nodes.startAll();
    nodes.leader(RheaClient.FIRST_REGION);
    client = new RheaClient(nodes.servers(), RheaCluster.TIMEOUT_MS);
    // The victim must be a follower, so that the other nodes need no election.
    if (nodes.leader(RheaClient.FIRST_REGION) == victim)
      client.transferLeader(RheaClient.FIRST_REGION, nodes.members().get(0));
  }

  private static void execute(String... command) throws Exception {
    int code = new ProcessBuilder(command).inheritIO().start().waitFor();
    if (code != 0)
      throw new IllegalStateException(String.join(" ", command) + " ended with " + code);
  }

  private static void check(boolean truth, String what) {
    if (!truth) throw new IllegalStateException(what);
  }

  /** Writes acknowledged entries, whatever happens to the victim. */
  private void load(int count) throws InterruptedException {
    Entries more = new Entries(client, values, entries, count);
    entries += count;
    more.load();
    loaded.add(more);
  }

  /** The victim catches up, all replicas agree, and all that was acknowledged is there. */
  private void checkNothingLost() throws Exception {
    nodes.awaitCaughtUp(victim);
    long wrong = 0;
    for (Entries part : loaded) wrong += part.countWrong();
    check(wrong == 0, wrong + " acknowledged entries are lost");
    List<String> digests = nodes.digests();
    check(RheaNodes.differing(digests) == 0, "the replicas differ: " + digests);
  }

  /** Returns whether the node started. One that did not has ended. Checks its listeners. */
  private static boolean tryStart(NodeProcess node, String servers) throws Exception {
    node.start(servers);
    boolean started = node.awaitStarted();
    node.checkListeners();
    if (!started) node.quit();
    return started;
  }

  /** Waits until the victim has stopped taking part. */
  private void awaitHarmed() throws Exception {
    for (int i = 0; i < 100 && victim.isAlive() && !RheaNodes.isInError(victim); ++i)
      Thread.sleep(100);
    check(!victim.isAlive() || RheaNodes.isInError(victim),
        "node " + victim.number + " does not notice: " + victim.ask("status"));
  }

  /** Prints the first line of the victim's log, after so many bytes, in which the words are. */
  private void explain(long begin, String words) throws IOException {
    byte[] log = Files.readAllBytes(victim.log());
    String text = new String(
        log, (int) begin, (int) (log.length - begin), java.nio.charset.StandardCharsets.UTF_8);
    String line = text.lines()
                      .filter(candidate -> candidate.matches(".*(" + words + ").*"))
                      .findFirst()
                      .orElse(null);
    check(line != null, "the log does not say why: " + victim.log());
    System.out.println("    " + line.strip());
  }

  private long logBytes() throws IOException {
    return Files.size(victim.log());
  }

  // ---- Scenarios

  private void fullDisk() throws Exception {
    load(1000);
    long begin = logBytes();
    load(DISK_MEGABYTES * 1200);
    awaitHarmed();
    explain(begin, "No space left on device|[Nn]o space");
    load(500);
    victim.kill();
    execute("mount", "-o", "remount,size=512m", victim.folder.toString());
    nodes.start(victim);
    checkNothingLost();
  }

  private static List<Path> tables(Path folder) throws IOException {
    try (Stream<Path> files = Files.walk(folder)) {
      return files.filter(file -> file.toString().endsWith(".sst")).toList();
    }
  }

  private void damagedTable() throws Exception {
    load(3000);
    // Opening moves the write-ahead log of the Raft log into tables.
    victim.kill();
    nodes.start(victim);
    nodes.awaitCaughtUp(victim);
    victim.quit();
    List<Path> tables = tables(victim.folder.resolve("raft"));
    check(!tables.isEmpty(), "the Raft log has no tables");
    for (Path table : tables) {
      try (RandomAccessFile file = new RandomAccessFile(table.toFile(), "rw")) {
        // The first half of the table contains its entries.
        for (long offset = file.length() / 8; offset < file.length() / 2; offset += 512) {
          file.seek(offset);
          int old = file.read();
          file.seek(offset);
          file.write(~old);
        }
      }
    }
    long begin = logBytes();
    if (tryStart(victim, nodes.servers())) awaitHarmed();
    explain(begin, "[Cc]orrupt|checksum|[Cc]hecksum");
    load(500);
    victim.kill();
    // A node without its log is a new member, so it leaves the group and joins it again empty.
    client.removeReplica(RheaClient.FIRST_REGION, victim);
    ChildProcess.delete(victim.folder);
    nodes.start(victim);
    client.addReplica(RheaClient.FIRST_REGION, victim);
    checkNothingLost();
  }

  private static Map<String, Long> checksums(Path folder) throws IOException {
    Map<String, Long> found = new TreeMap<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : (Iterable<Path>) files.filter(Files::isRegularFile)::iterator) {
        CRC32C checksum = new CRC32C();
        checksum.update(Files.readAllBytes(file));
        found.put(folder.relativize(file).toString(), checksum.getValue());
      }
    }
    return found;
  }

  private static void copy(Path from, Path to) throws IOException {
    try (Stream<Path> files = Files.walk(from)) {
      for (Path file : (Iterable<Path>) files::iterator)
        Files.copy(file, to.resolve(from.relativize(file).toString()));
    }
  }

  /** RheaKV's folders have the port in their names: a node does not touch those of another one. */
  private void foreignFolder() throws Exception {
    load(1000);
    NodeProcess other = nodes.members().get(1);
    victim.quit();
    client.removeReplica(RheaClient.FIRST_REGION, victim);
    ChildProcess.delete(victim.folder);
    // The other node is stopped while it is copied.
    other.kill();
    copy(other.folder, victim.folder);
    nodes.start(other);
    nodes.awaitCaughtUp(other);
    Map<String, Long> before = checksums(victim.folder);
    nodes.start(victim);
    client.addReplica(RheaClient.FIRST_REGION, victim);
    load(500);
    checkNothingLost();
    Map<String, Long> after = checksums(victim.folder);
    check(before.entrySet().stream().allMatch(
              entry -> entry.getValue().equals(after.get(entry.getKey()))),
        "the other node's files have changed");
    System.out.println("    node " + victim.number + " started empty beside the files of node "
        + other.number + ", which are as they were");
  }

  /** The names of its folders, which have the port of a node in them. */
  private static Set<String> folders(NodeProcess node) throws IOException {
    Set<String> names = new TreeSet<>();
    for (String parent : List.of("db", "raft")) {
      try (Stream<Path> files = Files.list(node.folder.resolve(parent))) {
        files.forEach(file -> names.add(parent + "/" + file.getFileName()));
      }
    }
    return names;
  }

  /**
   * With this node's port in the names: the node takes the other's log and snapshot for its own and
   * catches up with the leader.
   */
  private void renamedFolder() throws Exception {
    load(1000);
    NodeProcess other = nodes.members().get(1);
    victim.quit();
    Set<String> own = folders(victim);
    ChildProcess.delete(victim.folder);
    load(500);
    other.kill();
    copy(other.folder, victim.folder);
    nodes.start(other);
    for (String name : folders(victim)) {
      Files.move(victim.folder.resolve(name), victim.folder.resolve(victim.named(name, other)));
    }
    check(folders(victim).equals(own), "the folders have other names: " + folders(victim));
    nodes.start(victim);
    load(500);
    checkNothingLost();
    System.out.println("    node " + victim.number + " goes on with the log of node " + other.number
        + ", and does not notice");
  }

  /**
   * At a port of its own, so that the lock of the Raft log is met and not the port that is in use.
   */
  private void secondProcess() throws Exception {
    load(500);
    long begin = logBytes();
    NodeProcess second = victim.twin(nodes.fourth().port);
    for (String name : folders(victim)) {
      if (!name.startsWith("raft/"))
        continue;  // RheaKV deletes the data at its start, and then opens the log
      Path folder = victim.folder.resolve(name);
      Files.createSymbolicLink(
          folder.resolveSibling(second.named(folder.getFileName().toString(), victim)), folder);
    }
    boolean started = tryStart(second, nodes.servers() + "," + second.address());
    check(!started, "a second process started in the folder of node " + victim.number);
    explain(begin, "LOCK");
    load(500);
    checkNothingLost();
  }

  /**
   * RocksDB's library reads the snapshot and the Raft log that Ashlar wrote, goes on with them, and
   * Ashlar takes them back.
   */
  private void olderVersion() throws Exception {
    load(1000);
    nodes.snapshotAll();
    load(500);
    victim.quit();
    NodeProcess older = victim.with(new ChildProcess.Library("RocksDB 7.9.2", null));
    int place = nodes.members().indexOf(victim);
    nodes.members().set(place, older);
    nodes.start(older);
    nodes.awaitCaughtUp(older);
    System.out.println("    node " + older.number + " goes on with " + older.mappedLibrary());
    load(500);
    List<String> digests = nodes.digests();
    check(RheaNodes.differing(digests) == 0, "the replicas differ: " + digests);
    older.kill();
    nodes.members().set(place, victim);
    nodes.start(victim);
    checkNothingLost();
  }

  /** Returns the failure, or null. A failure to clean up does not hide it. */
  private static Exception runOn(
      Path root, ChildProcess.Library library, boolean smallDisk, Scenario scenario) {
    Exception failure = null;
    RheaFaults cluster = null;
    try {
      cluster = new RheaFaults(root, library, smallDisk);
      scenario.run(cluster);
    } catch (Exception e) {
      failure = e;
    }
    try {
      if (cluster != null) cluster.close();
      if (smallDisk) execute("umount", root.resolve("node3").toString());
    } catch (Exception e) {
      if (failure == null) return e;
      failure.addSuppressed(e);
    }
    return failure;
  }

  private void close() throws Exception {
    nodes.killAll();
    victim.kill();
    client.close();
  }

  private static boolean run(String name, ChildProcess.Library library, boolean smallDisk,
      Scenario scenario) throws Exception {
    Path root = Files.createTempDirectory("ashlar-faults");
    long begin = System.nanoTime();
    Exception failure = runOn(root, library, smallDisk, scenario);
    boolean right = failure == null;
    if (!right) failure.printStackTrace(System.out);
    System.out.printf("%s: %s: %s, %.0f s%n", library.name(), name,
        right ? "nothing lost" : "FAILED, see " + root, (System.nanoTime() - begin) / 1e9);
    if (right) ChildProcess.delete(root);
    return right;
  }

  /** Arguments: name of the library, its folder or -, and the scenarios to run, or none for all. */
  public static void main(String[] arguments) throws Exception {
    ChildProcess.Library library =
        new ChildProcess.Library(arguments[0], arguments[1].equals("-") ? null : arguments[1]);
    Path logs = Files.createTempDirectory("ashlar-faults-client");
    RheaCluster.redirectLogs(logs);
    Map<String, Scenario> scenarios = new TreeMap<>(Map.of("full-disk", RheaFaults::fullDisk,
        "damaged-table", RheaFaults::damagedTable, "foreign-folder", RheaFaults::foreignFolder,
        "renamed-folder", RheaFaults::renamedFolder, "second-process", RheaFaults::secondProcess,
        "older-version", RheaFaults::olderVersion));
    List<String> wanted = arguments.length > 2 ? List.of(arguments).subList(2, arguments.length)
                                               : List.copyOf(scenarios.keySet());
    for (String name : wanted) {
      if (!scenarios.containsKey(name))
        throw new IllegalArgumentException(
            "there is no scenario '" + name + "'; there are " + scenarios.keySet());
    }
    int failed = 0, left = 0;
    for (String name : wanted) {
      boolean mounts = name.equals("full-disk");
      if (mounts && !"root".equals(System.getProperty("user.name"))) {
        System.out.println(name + ": not run, since it mounts a small disk, which needs root");
        ++left;
        continue;
      }
      if (!run(name, library, mounts, scenarios.get(name))) ++failed;
    }
    ChildProcess.delete(logs);
    if (left > 0) System.out.printf("%d of %d not run%n", left, wanted.size());
    System.out.printf("%d passed, %d failed%n", wanted.size() - left - failed, failed);
    System.exit(failed == 0 ? 0 : 1);
  }
}
