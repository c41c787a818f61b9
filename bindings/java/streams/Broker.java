import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * Kafka's broker, which is its own controller, on loopback addresses: Kafka's programs with a line
 * before and after.
 */
public final class Broker {
  private Broker() {}

  private static List<String> settings(int port, int controllerPort, Path folder) {
    return List.of("process.roles=broker,controller", "node.id=1",
        "controller.quorum.voters=1@127.0.0.1:" + controllerPort,
        "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
        "advertised.listeners=PLAINTEXT://127.0.0.1:" + port,
        "controller.listener.names=CONTROLLER",
        "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
        "log.dirs=" + folder.resolve("logs"), "offsets.topic.num.partitions=4",
        "offsets.topic.replication.factor=1", "transaction.state.log.num.partitions=4",
        "transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1",
        "group.initial.rebalance.delay.ms=0");
  }

  /** Arguments: two ports and a folder. The end of its input ends it. */
  public static void main(String[] arguments) throws Exception {
    Path folder = Path.of(arguments[2]), file = folder.resolve("server.properties");
    Files.write(
        file, settings(Integer.parseInt(arguments[0]), Integer.parseInt(arguments[1]), folder));
    kafka.tools.StorageTool.execute(new String[] {"format", "--cluster-id",
                                        "AAAAAAAAAAAAAAAAAAAAAA", "--config", file.toString()},
        System.err);
    Thread end = new Thread(() -> {
      try {
        while (System.in.read() >= 0) continue;
      } catch (java.io.IOException e) {
        // The parent has ended.
      }
      Runtime.getRuntime().halt(0);
    });
    end.setDaemon(true);
    end.start();
    System.out.println("> started");
    kafka.Kafka.main(new String[] {file.toString()});
  }
}
