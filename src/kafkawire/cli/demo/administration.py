"""Third chapter: a broker runs in Python, and one call of the admin client sets up a thousand users."""

from __future__ import annotations

from kafkawire.admin import (
    AclBinding,
    AclBindingFilter,
    AclEvaluator,
    AclOperation,
    BlockingAdminClient,
    ClientQuotaFilter,
    EffectiveQuotas,
    PatternType,
    ResourceType,
)
from kafkawire.cli.demo.kafka_tools import ToolsAbsentError
from kafkawire.cli.demo.stage import Stage, timed
from kafkawire.cli.demo.users import SHUT_OUT, TOPIC, USERS, SetUp

_ADDRESS = "127.0.0.1"
_ONE_OF_ALL = "one-of-all"


def show(stage: Stage) -> None:
    """Show the topics that were created, the calls and their speed, and which ACLs and quotas hold.

    Raises:
        CommandError: the broker does not start.
        KafkaError: it does not respond.
    """
    done = stage.set_up_broker()
    stage.say(
        f"kafkawire broker listens on {stage.broker.bootstrap_servers}, {stage.broker.seconds_to_start:.2f} s after "
        "its process was started. A policy of its own, in Python, refuses one topic:"
    )
    _show_topics(stage, done)
    stage.table(
        ("call", "asked for", "done", "failed", "seconds", "per second"),
        [
            (call.method, f"{call.items:,}", f"{call.items - call.failed:,}", f"{call.failed:,}",
             f"{call.seconds:.2f}", f"{call.items / call.seconds:,.0f}")
            for call in done.calls
        ],
        right=("asked for", "done", "failed", "seconds", "per second"),
    )  # fmt: skip
    with BlockingAdminClient(stage.broker.bootstrap_servers) as client:
        acls = client.describe_acls((AclBindingFilter(),)).union()
        quotas = client.describe_client_quotas((ClientQuotaFilter(),)).union()
    evaluator = AclEvaluator(sorted(acls))
    stage.gap()
    stage.say(f"Who may write to {TOPIC}, and which ACL decides?")
    for principal in ("User:user-0200", SHUT_OUT.principal):
        decision = evaluator.decide(principal, AclOperation.WRITE, ResourceType.TOPIC, TOPIC, _ADDRESS)
        stage.item(
            f"{principal} {'yes' if decision.allowed else 'no '}  {described(decision.acl)}",
            "green" if decision.allowed else "red",
        )
    stage.say("Which quotas hold for client batch of user-0042, and for whom are they set?")
    for key, quota in EffectiveQuotas(quotas).of_client("user-0042", "batch").items():
        if quota.value is not None and quota.entity is not None:
            entity = ", ".join(f"{kind} {name or '<default>'}" for kind, name in quota.entity.items())
            stage.item(f"{key:<19} {quota.value:>9,.0f}  {entity}")
    stage.gap()
    _compare_with_kafka_acls(stage, done)


def described(acl: AclBinding | None) -> str:
    """An ACL in a few words."""
    if acl is None:
        return "no ACL"
    pattern = f"{acl.resource_name}*" if acl.pattern_type == PatternType.PREFIXED else acl.resource_name
    return f"{acl.permission_type.name} {acl.operation.name} on {acl.resource_type.name} {pattern} from {acl.host}"


def _show_topics(stage: Stage, done: SetUp) -> None:
    created = ", ".join(topic.name for topic in done.topics if topic.name not in done.refused)
    stage.item(f"created: {created}", "green")
    for error in done.refused.values():
        stage.item(f"refused: {type(error).__name__}: {error.message}", "red")


def _compare_with_kafka_acls(stage: Stage, done: SetUp) -> None:
    """What one user costs with Kafka's own command, if it can run here."""
    tools = stage.tools
    if isinstance(tools, ToolsAbsentError):
        stage.say(f"Left out: the time of Kafka's own kafka-acls, for comparison; it needs {tools}.", "dim")
        return
    with stage.console.status("kafka-acls adds the ACLs of one user"), timed() as seconds:
        tools.add_read_acls(stage.broker.bootstrap_servers, _ONE_OF_ALL, TOPIC)
    one, all_ = seconds[0], done.calls[0].seconds
    stage.say(
        f"Kafka's own kafka-acls, called for one user, took {one:.2f} s here, start of Java included. {USERS:,} "
        f"such calls would take {one * USERS / 60:.0f} minutes; our one call for {USERS:,} users took {all_:.2f} s.",
        "bold",
    )
