import com.alipay.sofa.jraft.CliService;
import com.alipay.sofa.jraft.RaftServiceFactory;
import com.alipay.sofa.jraft.RouteTable;
import com.alipay.sofa.jraft.Status;
import com.alipay.sofa.jraft.conf.Configuration;
import com.alipay.sofa.jraft.entity.PeerId;
import com.alipay.sofa.jraft.option.CliOptions;
import com.alipay.sofa.jraft.rhea.JRaftHelper;
import com.alipay.sofa.jraft.rhea.RheaKVServiceFactory;
import com.alipay.sofa.jraft.rhea.client.DefaultRheaKVStore;
import com.alipay.sofa.jraft.rhea.client.RheaKVCliService;
import com.alipay.sofa.jraft.rhea.client.RheaKVStore;
import com.alipay.sofa.jraft.rhea.client.pd.PlacementDriverClient;
import com.alipay.sofa.jraft.rhea.metadata.Region;
import com.alipay.sofa.jraft.rhea.metadata.RegionEpoch;
import com.alipay.sofa.jraft.rhea.options.BatchingOptions;
import com.alipay.sofa.jraft.rhea.options.PlacementDriverOptions;
import com.alipay.sofa.jraft.rhea.options.RegionRouteTableOptions;
import com.alipay.sofa.jraft.rhea.options.RheaKVStoreOptions;
import com.alipay.sofa.jraft.rhea.options.RpcOptions;
import com.alipay.sofa.jraft.rhea.util.Constants;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * RheaKV's client and the services that change the cluster. The client does not repeat operations:
 * a write that is sent twice can take effect twice, so each operation here is sent once, and its
 * failure means that its outcome is not known. Thread-safe.
 */
final class RheaClient implements AutoCloseable {
  static final long FIRST_REGION = Constants.DEFAULT_REGION_ID;
  private static final int LEADER_WAIT_MS = 2000;
  private static final long CHANGE_WAIT_NS = 300_000_000_000L;

  private final DefaultRheaKVStore store = new DefaultRheaKVStore();

  RheaClient(String servers, int timeoutMs) {
    RegionRouteTableOptions region = new RegionRouteTableOptions();
    region.setRegionId(FIRST_REGION);
    PlacementDriverOptions driver = new PlacementDriverOptions();
    driver.setFake(true);
    driver.setRegionRouteTableOptionsList(List.of(region));
    RpcOptions rpc = new RpcOptions();
    rpc.setRpcTimeoutMillis(timeoutMs);
    BatchingOptions batching = new BatchingOptions();
    batching.setAllowBatching(false);
    RheaKVStoreOptions options = new RheaKVStoreOptions();
    options.setClusterName(RheaNode.CLUSTER);
    options.setInitialServerList(servers);
    options.setPlacementDriverOptions(driver);
    options.setRpcOptions(rpc);
    options.setBatchingOptions(batching);
    options.setFailoverRetries(0);
    options.setFutureTimeoutMillis(timeoutMs);
    if (!store.init(options)) throw new IllegalStateException("RheaKV's client did not start");
  }

  RheaKVStore store() {
    return store;
  }

  /** Futures that fail at once count like those that fail later. */
  static <T> CompletableFuture<T> call(Supplier<CompletableFuture<T>> operation) {
    try {
      return operation.get();
    } catch (RuntimeException e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Asks the nodes who leads the region of the key. Returns whether one does. */
  boolean findLeader(byte[] key) {
    PlacementDriverClient driver = store.getPlacementDriverClient();
    long region = driver.findRegionByKey(key, false).getId();
    try {
      return driver.getLeader(region, true, LEADER_WAIT_MS) != null;
    } catch (RuntimeException e) {
      return false;
    }
  }

  /** Whether the region of the key answers a read, which all earlier writes precede. */
  boolean serves(byte[] key) throws InterruptedException {
    try {
      call(() -> store.get(key)).get();
      return true;
    } catch (ExecutionException e) {
      findLeader(key);
      return false;
    }
  }

  private static String group(long region) {
    return JRaftHelper.getJRaftGroupId(RheaNode.CLUSTER, region);
  }

  private static PeerId peer(NodeProcess node) {
    return PeerId.parsePeer(node.address());
  }

  private Configuration configuration(long region) {
    return RouteTable.getInstance().getConfiguration(group(region));
  }

  private static CliOptions changeOptions() {
    CliOptions options = new CliOptions();
    options.setTimeoutMs(60_000);
    options.setMaxRetry(0);
    return options;
  }

  /**
   * A group that has just elected its leader, or changes its members, is busy. A change that was
   * made after its time was over succeeds when it is asked for again.
   */
  private static void change(Function<CliService, Status> request, String what)
      throws InterruptedException {
    Status status = Status.OK();
    for (long deadline = System.nanoTime() + CHANGE_WAIT_NS; System.nanoTime() < deadline;
        Thread.sleep(100)) {
      CliService service = RaftServiceFactory.createAndInitCliService(changeOptions());
      try {
        status = request.apply(service);
      } finally {
        service.shutdown();
      }
      if (status.isOk()) return;
    }
    throw new IllegalStateException(what + ": " + status);
  }

  private void refresh(long region) {
    store.getPlacementDriverClient().refreshRouteConfiguration(region);
  }

  /** Returns when the node has the region's data. */
  void addReplica(long region, NodeProcess node) throws InterruptedException {
    change(raft
        -> raft.addPeer(group(region), configuration(region), peer(node)),
        "adding node " + node.number);
    refresh(region);
  }

  void removeReplica(long region, NodeProcess node) throws InterruptedException {
    change(raft
        -> raft.removePeer(group(region), configuration(region), peer(node)),
        "removing node " + node.number);
    refresh(region);
  }

  void transferLeader(long region, NodeProcess node) throws InterruptedException {
    change(raft
        -> raft.transferLeader(group(region), configuration(region), peer(node)),
        "making node " + node.number + " the leader");
    refresh(region);
  }

  /** Splits in the middle. The client learns the new region by addRegion. */
  void split(long region, long newRegion) {
    RheaKVCliService service = RheaKVServiceFactory.createAndInitRheaKVCliService(changeOptions());
    try {
      Status status = service.rangeSplit(region, newRegion, group(region), configuration(region));
      if (!status.isOk())
        throw new IllegalStateException("splitting region " + region + ": " + status);
    } finally {
      service.shutdown();
    }
  }

  /** The route to a region that a split made, which a placement driver would tell. */
  void addRegion(long left, long region, byte[] startKey) {
    Region right = new Region();
    right.setId(region);
    right.setStartKey(startKey);
    right.setRegionEpoch(new RegionEpoch(-1, -1));
    RouteTable.getInstance().updateConfiguration(group(region), configuration(left));
    store.getPlacementDriverClient().getRegionRouteTable().splitRegion(left, right);
    refresh(region);
  }

  @Override
  public void close() {
    store.shutdown();
  }
}
