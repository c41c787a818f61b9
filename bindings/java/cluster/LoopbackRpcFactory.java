import com.alipay.remoting.rpc.RpcServer;
import com.alipay.sofa.jraft.rpc.RpcClient;
import com.alipay.sofa.jraft.rpc.impl.BoltRaftRpcFactory;
import com.alipay.sofa.jraft.rpc.impl.BoltRpcServer;
import com.alipay.sofa.jraft.util.Endpoint;
import com.alipay.sofa.jraft.util.SPI;

/**
 * JRaft's transport with servers that listen on their own address only, and with clients that
 * connect again. JRaft's factory gives bolt the port alone, and such a server listens on all
 * interfaces. JRaft finds this class by META-INF/services, and takes it because of its priority.
 */
@SPI(name = "loopback", priority = 1)
public final class LoopbackRpcFactory extends BoltRaftRpcFactory {
  @Override
  public com.alipay.sofa.jraft.rpc.RpcServer createRpcServer(
      Endpoint endpoint, ConfigHelper<com.alipay.sofa.jraft.rpc.RpcServer> helper) {
    BoltRpcServer server =
        new BoltRpcServer(new RpcServer(endpoint.getIp(), endpoint.getPort(), true));
    if (helper != null) helper.config(server);
    return server;
  }

  @Override
  public RpcClient createRpcClient(ConfigHelper<RpcClient> helper) {
    ReconnectingRpcClient client = new ReconnectingRpcClient();
    if (helper != null) helper.config(client);
    return client;
  }
}
