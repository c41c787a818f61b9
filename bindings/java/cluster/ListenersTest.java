import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.List;
import java.util.Set;

/**
 * The look-up of listening addresses, on tables with all kinds of addresses and on sockets of this
 * process.
 */
public final class ListenersTest {
  private ListenersTest() {}

  private static void equal(Object wanted, Object got) {
    if (!wanted.equals(got)) throw new AssertionError("wanted " + wanted + ", got " + got);
  }

  private static String line(String local, String state, String inode) {
    return "   0: " + local + " 00000000:0000 " + state
        + " 00000000:00000000 00:00000000 00000000  0  0 " + inode + " 1 0 100 0 0 10 0";
  }

  private static void listeningSocketsOfTheProcessAreFound() {
    List<String> table = List.of("  sl  local_address rem_address   st tx_queue rx_queue tr "
            + "tm->when retrnsmt   uid  timeout inode",
        line("00000000:1F90", "0A", "11"), line("0100007F:1F91", "0A", "12"),
        line("0100007F:1F92", "01", "13"), line("00000000:1F93", "0A", "99"));
    equal(List.of("00000000:1F90", "0100007F:1F91"),
        Listeners.inTable(table, Set.of("11", "12", "13")));
  }

  private static void onlyLoopbackAddressesAreLoopback() {
    for (String address : List.of("0100007F:1F90", "0201007F:0001",
             "00000000000000000000000001000000:1F90", "0000000000000000FFFF00000100007F:1F90")) {
      equal(true, Listeners.isLoopback(address));
    }
    for (String address : List.of("00000000:1F90", "0100000A:1F90", "7F000001:1F90",
             "00000000000000000000000000000000:1F90", "0000000000000000FFFF00000100000A:1F90",
             "000080FE00000000000000000000007F:1F90")) {
      equal(false, Listeners.isLoopback(address));
    }
  }

  private static void aSocketOfThisProcessIsFoundUntilItIsClosed() throws Exception {
    long pid = ProcessHandle.current().pid();
    equal(List.of(), Listeners.of(pid));
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      List<String> addresses = Listeners.of(pid);
      equal(1, addresses.size());
      equal(true, addresses.get(0).endsWith(String.format(":%04X", socket.getLocalPort())));
      equal(true, Listeners.isLoopback(addresses.get(0)));
    }
    equal(List.of(), Listeners.of(pid));
  }

  public static void main(String[] arguments) throws Exception {
    listeningSocketsOfTheProcessAreFound();
    onlyLoopbackAddressesAreLoopback();
    aSocketOfThisProcessIsFoundUntilItIsClosed();
    System.out.println("3 passed, 0 failed");
  }
}
