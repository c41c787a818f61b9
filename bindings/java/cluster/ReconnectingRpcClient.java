import com.alipay.remoting.Connection;
import com.alipay.remoting.ConnectionPool;
import com.alipay.remoting.DefaultConnectionManager;
import com.alipay.remoting.rpc.RpcClient;
import com.alipay.remoting.util.RunStateRecordedFutureTask;
import com.alipay.sofa.jraft.error.RemotingException;
import com.alipay.sofa.jraft.rpc.InvokeCallback;
import com.alipay.sofa.jraft.rpc.InvokeContext;
import com.alipay.sofa.jraft.rpc.impl.BoltRpcClient;
import com.alipay.sofa.jraft.util.Endpoint;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.ExecutionException;

/**
 * JRaft's client of bolt 1.6.4, which connects again to a node whose pool of connections is dead.
 * Bolt adds a connection to the pool even if it broke while it was made, removes it within ten
 * seconds, and keeps the empty pool for ten minutes. As long as a pool exists, bolt's calls make no
 * connection.
 *
 * <p>Here each call that may connect first drops the pool of the node if it is dead: its creation
 * has ended, and no connection in it is alive. A pool that is connecting is kept. Thread-safe.
 */
final class ReconnectingRpcClient extends BoltRpcClient {
  ReconnectingRpcClient() {
    super(new RpcClient());
  }

  /** The end of the creation is read first: bolt adds the connection before it marks that end. */
  private static boolean isDead(RunStateRecordedFutureTask<ConnectionPool> creation) {
    if (!creation.isDone()) return false;
    try {
      ConnectionPool pool = creation.get();
      return pool.isAsyncCreationDone() && pool.getAll().stream().noneMatch(Connection::isFine);
    } catch (ExecutionException | InterruptedException e) {
      return false;  // bolt drops a failed creation, and a finished one does not wait
    }
  }

  /** Removes only the pool that was found dead, not one that another thread put in its place. */
  private void dropDeadPool(Endpoint endpoint) {
    RpcClient bolt = getRpcClient();
    DefaultConnectionManager manager = (DefaultConnectionManager) bolt.getConnectionManager();
    ConcurrentMap<String, RunStateRecordedFutureTask<ConnectionPool>> pools =
        manager.getConnPools();
    String key = bolt.getAddressParser().parse(endpoint.toString()).getUniqueKey();
    RunStateRecordedFutureTask<ConnectionPool> creation = pools.get(key);
    if (creation != null && isDead(creation)) pools.remove(key, creation);
  }

  @Override
  public boolean checkConnection(Endpoint endpoint, boolean createIfAbsent) {
    if (createIfAbsent) dropDeadPool(endpoint);
    return super.checkConnection(endpoint, createIfAbsent);
  }

  @Override
  public Object invokeSync(Endpoint endpoint, Object request, InvokeContext context, long timeoutMs)
      throws InterruptedException, RemotingException {
    dropDeadPool(endpoint);
    return super.invokeSync(endpoint, request, context, timeoutMs);
  }

  @Override
  public void invokeAsync(Endpoint endpoint, Object request, InvokeContext context,
      InvokeCallback callback, long timeoutMs) throws InterruptedException, RemotingException {
    dropDeadPool(endpoint);
    super.invokeAsync(endpoint, request, context, callback, timeoutMs);
  }
}
