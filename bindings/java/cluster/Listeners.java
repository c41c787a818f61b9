import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The TCP addresses on which a process listens, as Linux reports them. The open files of a process
 * name its sockets by inodes; the tables of its network name for each inode the local address and
 * the state:
 *
 * <pre>
 *   /proc/PID/fd/7 -> socket:[4711]
 *   /proc/PID/net/tcp:   0: 0100007F:1F90 00000000:0000 0A ...       the tenth field is the inode
 *                           127.0.0.1:8080, listening
 * </pre>
 */
final class Listeners {
  private static final String LISTENING = "0A";
  private static final int LOCAL = 1, STATE = 3, INODE = 9;  // fields of a line
  private static final String IPV6_LOOPBACK = "00000000000000000000000001000000";
  private static final String MAPPED_IPV4 = "0000000000000000FFFF0000";

  private Listeners() {}

  private static Set<String> socketsOf(Path process) throws IOException {
    Set<String> inodes = new HashSet<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(process.resolve("fd"))) {
      for (Path file : files) {
        try {
          String target = Files.readSymbolicLink(file).toString();
          if (target.startsWith("socket:["))
            inodes.add(target.substring("socket:[".length(), target.length() - 1));
        } catch (NoSuchFileException e) {
          // The file was closed meanwhile.
        }
      }
    }
    return inodes;
  }

  /** The local addresses, in the form of the table, of the listening sockets among the inodes. */
  static List<String> inTable(List<String> table, Set<String> inodes) {
    List<String> addresses = new ArrayList<>();
    for (String line : table) {
      String[] fields = line.trim().split("\\s+");
      if (fields.length > INODE && fields[STATE].equals(LISTENING)
          && inodes.contains(fields[INODE]))
        addresses.add(fields[LOCAL]);
    }
    return addresses;
  }

  /** Of a process, in the form of the tables. */
  static List<String> of(long pid) throws IOException {
    Path process = Path.of("/proc", Long.toString(pid));
    Set<String> inodes = socketsOf(process);
    List<String> addresses = new ArrayList<>();
    for (String table : List.of("tcp", "tcp6")) {
      Path file = process.resolve("net").resolve(table);
      if (Files.exists(file)) addresses.addAll(inTable(Files.readAllLines(file), inodes));
    }
    return addresses;
  }

  /**
   * Whether only programs of this machine reach the address: 127.0.0.0/8, also as IPv6, and ::1.
   */
  static boolean isLoopback(String address) {
    String host = address.substring(0, address.indexOf(':'));
    if (host.equals(IPV6_LOOPBACK)) return true;
    String ipv4 = host.startsWith(MAPPED_IPV4) ? host.substring(MAPPED_IPV4.length()) : host;
    return ipv4.length() == 8 && ipv4.endsWith("7F");  // the bytes are in the machine's order
  }
}
