from kafkawire.declared.applying import Application as Application, AppliedItem as AppliedItem, Result as Result
from kafkawire.declared.checking import check_plan as check_plan
from kafkawire.declared.comparison import (
    Difference as Difference,
    DifferingItem as DifferingItem,
    compare_states as compare_states,
)
from kafkawire.declared.documents.declared import Declared as Declared, PruneScope as PruneScope
from kafkawire.declared.documents.problems import Position as Position, Problem as Problem, Rule as Rule
from kafkawire.declared.documents.reading import read_documents as read_documents
from kafkawire.declared.documents.secret_references import (
    SecretReference as SecretReference,
    UnavailableSecretError as UnavailableSecretError,
)
from kafkawire.declared.documents.writing import write_documents as write_documents
from kafkawire.declared.drift import (
    Comparison as Comparison,
    DriftedItem as DriftedItem,
    compare_with_now as compare_with_now,
    scope_of_plan as scope_of_plan,
)
from kafkawire.declared.log_state import read_log_state as read_log_state
from kafkawire.declared.own_access import keep_access as keep_access
from kafkawire.declared.planned import (
    Action as Action,
    Check as Check,
    Kind as Kind,
    Plan as Plan,
    PlannedItem as PlannedItem,
    ValueChange as ValueChange,
)
from kafkawire.declared.planning import plan_of as plan_of
from kafkawire.declared.reading import ReadCluster as ReadCluster, read_cluster as read_cluster
from kafkawire.declared.saved_plan import (
    SavedPlan as SavedPlan,
    SavedPlanError as SavedPlanError,
    load_plan as load_plan,
    save_plan as save_plan,
)
from kafkawire.declared.scope import ReadScope as ReadScope
from kafkawire.declared.selection import StateSelection as StateSelection
from kafkawire.declared.stages import Stage as Stage
from kafkawire.declared.state import (
    ClusterState as ClusterState,
    CredentialState as CredentialState,
    TopicState as TopicState,
)
from kafkawire.declared.unread import Unread as Unread, without_unread as without_unread
from kafkawire.declared.wording import item_in_words as item_in_words
