package kafkawire.suites;

/** Goes with the failure of a test that has fewer brokers than it asks for, which may be the reason. */
final class FewerBrokers extends Exception {
    private static final long serialVersionUID = 1L;

    FewerBrokers(int asked) {
        super("asks for " + asked + " brokers", null, false, false);
    }
}
