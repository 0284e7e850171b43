import com.sun.tools.attach.VirtualMachine;

import java.io.BufferedReader;
import java.io.InputStreamReader;

import javax.management.MBeanServerConnection;
import javax.management.ObjectName;
import javax.management.remote.JMXConnector;
import javax.management.remote.JMXConnectorFactory;
import javax.management.remote.JMXServiceURL;

/**
 * Reads the metrics of client quotas of a broker by JMX: its argument is the id of the broker's process. It prints
 * "ready", and for each line of standard input a line for each value, type, client, attribute and value, and an empty one.
 */
public final class QuotaMetrics {
    public static void main(String[] arguments) throws Exception {
        String address = VirtualMachine.attach(arguments[0]).startLocalManagementAgent();
        try (JMXConnector connector = JMXConnectorFactory.connect(new JMXServiceURL(address))) {
            MBeanServerConnection server = connector.getMBeanServerConnection();
            System.out.println("ready");
            BufferedReader input = new BufferedReader(new InputStreamReader(System.in));
            while (input.readLine() != null) {
                print(server);
                System.out.println();
            }
        }
    }

    private static void print(MBeanServerConnection server) throws Exception {
        for (String type : new String[] {"Produce", "Request", "ControllerMutation"}) {
            for (ObjectName name : server.queryNames(new ObjectName("kafka.server:type=" + type + ",client-id=*"), null)) {
                for (String attribute : new String[] {"byte-rate", "mutation-rate", "throttle-time"}) {
                    try {
                        Object value = server.getAttribute(name, attribute);
                        System.out.println(String.join("\t", type, name.getKeyProperty("client-id"), attribute, value.toString()));
                    } catch (javax.management.AttributeNotFoundException absent) {
                        continue;
                    }
                }
            }
        }
    }
}
