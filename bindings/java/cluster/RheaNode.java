import com.alipay.sofa.jraft.Node;
import com.alipay.sofa.jraft.Status;
import com.alipay.sofa.jraft.option.NodeOptions;
import com.alipay.sofa.jraft.rhea.RegionEngine;
import com.alipay.sofa.jraft.rhea.StateListenerContainer;
import com.alipay.sofa.jraft.rhea.StoreEngine;
import com.alipay.sofa.jraft.rhea.client.pd.FakePlacementDriverClient;
import com.alipay.sofa.jraft.rhea.options.PlacementDriverOptions;
import com.alipay.sofa.jraft.rhea.options.RheaKVStoreOptions;
import com.alipay.sofa.jraft.rhea.options.RocksDBOptions;
import com.alipay.sofa.jraft.rhea.options.StoreEngineOptions;
import com.alipay.sofa.jraft.rhea.storage.KVIterator;
import com.alipay.sofa.jraft.rhea.storage.zip.ZipStrategyManager;
import com.alipay.sofa.jraft.util.Endpoint;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HexFormat;
import java.util.concurrent.CompletableFuture;
import java.util.zip.CRC32C;

/**
 * One node of RheaKV: a store engine, unmodified, with what it needs. Its parent talks to it by
 * lines on standard input and reads one line for each:
 *
 * <pre>
 *   status     region:state:leader:applied:committed:startKey of each region, keys in hex
 *   snapshot   takes one of each region that covers all keys (see RheaCluster)
 *   digest     number and checksum of the entries in the local store
 * </pre>
 *
 * The end of the input closes everything. A node that cannot start answers "> not started" and
 * waits for that end, so that its parent can look at its sockets.
 */
public final class RheaNode {
  static final String CLUSTER = "rhea";

  private final StoreEngine engine;

  private RheaNode(StoreEngine engine) {
    this.engine = engine;
  }

  /** Snapshots only on request: by checkpoint, which RheaKV calls fast. */
  private static StoreEngine open(int port, Path folder, String servers) {
    NodeOptions node = new NodeOptions();
    node.setSnapshotIntervalSecs(0);
    RocksDBOptions rocks = new RocksDBOptions();
    rocks.setDbPath(folder.resolve("db").toString());
    rocks.setFastSnapshot(true);
    StoreEngineOptions options = new StoreEngineOptions();
    options.setRocksDBOptions(rocks);
    options.setRaftDataPath(folder.resolve("raft") + "/");
    options.setServerAddress(new Endpoint("127.0.0.1", port));
    options.setInitialServerList(servers);
    options.setCommonNodeOptions(node);
    options.setMetricsReportPeriod(0);
    options.setLeastKeysOnSplit(100);
    FakePlacementDriverClient driver = new FakePlacementDriverClient(0, CLUSTER);
    PlacementDriverOptions driverOptions = new PlacementDriverOptions();
    driverOptions.setFake(true);
    driverOptions.setInitialServerList(servers);
    if (!driver.init(driverOptions)) return null;
    ZipStrategyManager.init(new RheaKVStoreOptions());
    StoreEngine engine = new StoreEngine(driver, new StateListenerContainer<>());
    return engine.init(options) ? engine : null;
  }

  private String status() {
    StringBuilder text = new StringBuilder();
    for (RegionEngine region : engine.getAllRegionEngines()) {
      Node node = region.getNode();
      byte[] start = region.getRegion().getStartKey();
      boolean works = node.getNodeState().isActive();  // an inactive node has no indexes
      if (text.length() > 0) text.append(' ');
      text.append(region.getRegion().getId())
          .append(':')
          .append(node.getNodeState())
          .append(':')
          .append(node.isLeader(false))
          .append(':')
          .append(works ? node.getLastAppliedLogIndex() : 0)
          .append(':')
          .append(works ? node.getLastCommittedIndex() : 0)
          .append(':')
          .append(start == null ? "" : HexFormat.of().formatHex(start));
    }
    return text.toString();
  }

  private String snapshot() throws Exception {
    for (RegionEngine region : engine.getAllRegionEngines()) {
      byte[] end = region.getRegion().getEndKey(), start = region.getRegion().getStartKey();
      if ((start != null && start.length > 0) || (end != null && end.length > 0)) continue;
      CompletableFuture<Status> done = new CompletableFuture<>();
      region.getNode().snapshot(done::complete);
      Status status = done.get();
      if (!status.isOk()) return "failed: " + status;
    }
    return "ok";
  }

  private String digest() throws Exception {
    long entries = 0;
    CRC32C checksum = new CRC32C();
    KVIterator entry = engine.getRawKVStore().localIterator();
    try (entry) {
      for (entry.seekToFirst(); entry.isValid(); entry.next(), ++entries) {
        checksum.update(entry.key());
        checksum.update(entry.value());
      }
    }
    return entries + ":" + Long.toHexString(checksum.getValue());
  }

  private String answer(String command) {
    try {
      return switch (command) {
        case "status" -> status();
        case "snapshot" -> snapshot();
        case "digest" -> digest();
        default -> "unknown command " + command;
      };
    } catch (Exception e) {
      return "failed: " + e;
    }
  }

  /** Arguments: port, folder, and the servers of the cluster when it began. */
  public static void main(String[] arguments) throws Exception {
    StoreEngine engine = null;
    try {
      engine = open(Integer.parseInt(arguments[0]), Path.of(arguments[1]), arguments[2]);
    } catch (Throwable e) {
      e.printStackTrace();
    }
    if (engine == null) {
      System.out.println("> not started");
      System.in.readAllBytes();
      System.exit(1);
    }
    System.out.println("> started");
    RheaNode node = new RheaNode(engine);
    BufferedReader commands =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String command; (command = commands.readLine()) != null;) {
      System.out.println("> " + node.answer(command));
    }
    engine.shutdown();
    System.exit(0);
  }
}
