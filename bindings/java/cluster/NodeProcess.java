import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** A node of RheaKV. */
final class NodeProcess extends ChildProcess {
  final int number;
  final int port;
  private final Path root;
  private final Library library;

  NodeProcess(int number, int port, Path root, Library library) {
    super(root, "node" + number, library);
    this.number = number;
    this.port = port;
    this.root = root;
    this.library = library;
  }

  /** Another process for the same folder. */
  NodeProcess twin(int ownPort) {
    return new NodeProcess(number, ownPort, root, library);
  }

  NodeProcess with(Library other) {
    return new NodeProcess(number, port, root, other);
  }

  /**
   * The name of a folder of another node as RheaKV would call it for this one: with this one's
   * port.
   */
  String named(String folder, NodeProcess other) {
    return folder.replace("_" + other.port, "_" + port);
  }

  String address() {
    return "127.0.0.1:" + port;
  }

  /**
   * IllegalStateException also if it does not listen on its port: then the check has found nothing.
   */
  @Override
  List<String> checkListeners() throws IOException {
    List<String> addresses = super.checkListeners();
    if (addresses.stream().noneMatch(address -> address.endsWith(String.format(":%04X", port))))
      throw new IllegalStateException("node " + number + " does not listen on port " + port);
    return addresses;
  }

  /**
   * A node lives for seconds, among others on few processors: the second compiler would come too
   * late.
   */
  void start(String servers) throws IOException {
    launch(List.of("-Xms256m", "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
               "--add-opens=java.base/java.lang=ALL-UNNAMED",
               "-Dorg.slf4j.simpleLogger.log.com.alipay.sofa.common.log=error"),
        "RheaNode", List.of(Integer.toString(port), folder.toString(), servers));
  }
}
