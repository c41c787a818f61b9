import com.alipay.remoting.Connection;
import com.alipay.remoting.ConnectionEventType;
import com.alipay.remoting.ConnectionPool;
import com.alipay.remoting.DefaultConnectionManager;
import com.alipay.remoting.Url;
import com.alipay.remoting.config.BoltClientOption;
import com.alipay.sofa.jraft.option.CliOptions;
import com.alipay.sofa.jraft.rpc.RpcRequests.PingRequest;
import com.alipay.sofa.jraft.rpc.RpcServer;
import com.alipay.sofa.jraft.rpc.impl.BoltRpcClient;
import com.alipay.sofa.jraft.rpc.impl.PingRequestProcessor;
import com.alipay.sofa.jraft.rpc.impl.cli.CliClientServiceImpl;
import com.alipay.sofa.jraft.util.Endpoint;
import com.alipay.sofa.jraft.util.RpcFactoryHelper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * JRaft's client, made by the factory that JRaft finds, and a server in this process. Each scenario
 * brings the client's pool into a state in which bolt leaves it. The client must replace a dead
 * pool and keep others.
 */
public final class ReconnectingRpcClientTest implements AutoCloseable {
  private interface Scenario {
    void run(ReconnectingRpcClientTest test) throws Exception;
  }

  private static final int TIMEOUT_MS = 60_000;

  private final RpcServer server =
      RpcFactoryHelper.rpcFactory().createRpcServer(new Endpoint("127.0.0.1", 0));
  private final CliClientServiceImpl client = new CliClientServiceImpl();
  private final CompletableFuture<Connection> firstClosed = new CompletableFuture<>();
  private final DefaultConnectionManager connections;
  private final Endpoint endpoint;
  private final Url url;

  private ReconnectingRpcClientTest() {
    server.registerProcessor(new PingRequestProcessor(null));
    server.init(null);
    endpoint = new Endpoint("127.0.0.1", server.boundPort());
    CliOptions options = new CliOptions();
    options.setRpcConnectTimeoutMs(TIMEOUT_MS);
    client.init(options);
    com.alipay.remoting.rpc.RpcClient bolt = ((BoltRpcClient) client.getRpcClient()).getRpcClient();
    // Bolt's own attempt to reconnect after a connection closes would disturb the states.
    bolt.option(BoltClientOption.CONN_RECONNECT_SWITCH, false);
    bolt.addConnectionEventProcessor(
        ConnectionEventType.CLOSE, (address, connection) -> firstClosed.complete(connection));
    connections = (DefaultConnectionManager) bolt.getConnectionManager();
    url = bolt.getAddressParser().parse(endpoint.toString());
  }

  private static void require(boolean truth, String what) {
    if (!truth) throw new AssertionError(what);
  }

  private ConnectionPool pool() throws Exception {
    return connections.getConnPools().get(url.getUniqueKey()).get();
  }

  /**
   * A pool whose connection broke while it was made: bolt adds the connection after it was to
   * remove it. Bolt removes a closed connection before it reports the event.
   */
  private void makePoolOfBrokenConnection() throws Exception {
    Connection connection = connections.create(url);
    connection.close();
    Connection closed = firstClosed.get(TIMEOUT_MS, TimeUnit.MILLISECONDS);
    require(closed == connection, "another connection was closed");
    connections.add(connection, url.getUniqueKey());
    require(pool().get() == null, "the pool has a connection");
  }

  /** The same after bolt's scan. */
  private void makeEmptyPool() throws Exception {
    makePoolOfBrokenConnection();
    connections.scan();
    require(pool().isEmpty(), "the pool is not empty");
  }

  /** The check that JRaft makes before it sends entries. It connects in another thread. */
  private void checkAndAwaitConnection() throws Exception {
    require(!client.checkConnection(endpoint, true), "a connection was there");
    ConnectionPool pool = pool();
    while (!pool.isAsyncCreationDone()) Thread.onSpinWait();
    require(client.isConnected(endpoint), "the client does not connect again");
  }

  // ---- Scenarios

  private void aCheckReplacesAPoolOfABrokenConnection() throws Exception {
    makePoolOfBrokenConnection();
    checkAndAwaitConnection();
  }

  private void aCheckReplacesAnEmptyPool() throws Exception {
    makeEmptyPool();
    checkAndAwaitConnection();
  }

  private void aSynchronousCallReplacesAnEmptyPool() throws Exception {
    makeEmptyPool();
    require(client.connect(endpoint), "the server did not answer");
  }

  private void anAsynchronousCallReplacesAnEmptyPool() throws Exception {
    makeEmptyPool();
    CompletableFuture<Throwable> done = new CompletableFuture<>();
    PingRequest request = PingRequest.newBuilder().setSendTimestamp(0).build();
    client.getRpcClient().invokeAsync(
        endpoint, request, (result, error) -> done.complete(error), TIMEOUT_MS);
    Throwable error = done.get();
    require(error == null, "the server did not answer: " + error);
  }

  private void aPoolThatIsConnectingIsKept() throws Exception {
    makeEmptyPool();
    ConnectionPool pool = pool();
    pool.markAsyncCreationStart();
    require(!client.checkConnection(endpoint, true), "a connection was there");
    require(pool() == pool, "a pool that is connecting was dropped");
    pool.markAsyncCreationDone();
    checkAndAwaitConnection();
  }

  private void aPoolWithAConnectionIsKept() throws Exception {
    require(client.connect(endpoint), "the server did not answer");
    ConnectionPool pool = pool();
    require(client.checkConnection(endpoint, true), "the connection is gone");
    require(client.connect(endpoint) && pool() == pool, "a live pool was dropped");
  }

  @Override
  public void close() {
    client.shutdown();
    server.shutdown();
  }

  public static void main(String[] arguments) throws Exception {
    Path logs = Files.createTempDirectory("ashlar-reconnecting");
    RheaCluster.redirectLogs(logs);
    List<Scenario> scenarios =
        List.of(ReconnectingRpcClientTest::aCheckReplacesAPoolOfABrokenConnection,
            ReconnectingRpcClientTest::aCheckReplacesAnEmptyPool,
            ReconnectingRpcClientTest::aSynchronousCallReplacesAnEmptyPool,
            ReconnectingRpcClientTest::anAsynchronousCallReplacesAnEmptyPool,
            ReconnectingRpcClientTest::aPoolThatIsConnectingIsKept,
            ReconnectingRpcClientTest::aPoolWithAConnectionIsKept);
    int failed = 0;
    for (Scenario scenario : scenarios) {
      try (ReconnectingRpcClientTest test = new ReconnectingRpcClientTest()) {
        scenario.run(test);
      } catch (Exception | AssertionError e) {
        e.printStackTrace(System.out);
        ++failed;
      }
    }
    ChildProcess.delete(logs);
    System.out.printf("%d passed, %d failed%n", scenarios.size() - failed, failed);
    System.exit(failed == 0 ? 0 : 1);  // threads of the transport are still running
  }
}
