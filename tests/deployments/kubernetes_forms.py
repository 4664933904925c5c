"""The parts of Kubernetes that our manifest uses, as strict forms: a field that is misspelt or at the wrong place is an error.

Checked once against the schemas of Kubernetes 1.37, field by field; whoever uses another field adds it here from its reference.
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

Name = Annotated[str, Field(pattern=r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", max_length=63)]
Quantity = Annotated[str, Field(pattern=r"^[1-9][0-9]*(\.[0-9]+)?(m|Ki|Mi|Gi|Ti)?$")]
Labels = dict[str, str]


class Form(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class Metadata(Form):
    name: Name
    labels: Labels = {}


class SecretKey(Form):
    name: Name
    key: str


class ValueFrom(Form):
    secretKeyRef: SecretKey


class Variable(Form):
    name: Annotated[str, Field(pattern=r"^[A-Z_][A-Z0-9_]*$")]
    value: str | None = None
    valueFrom: ValueFrom | None = None


class ContainerPort(Form):
    name: Name
    containerPort: Annotated[int, Field(ge=1, le=65535)]


class HttpGet(Form):
    path: Annotated[str, Field(pattern="^/")]
    port: Name


class Probe(Form):
    httpGet: HttpGet
    periodSeconds: Annotated[int, Field(ge=1)]
    timeoutSeconds: Annotated[int, Field(ge=1)] = 1
    failureThreshold: Annotated[int, Field(ge=1)] = 3


class Resources(Form):
    requests: dict[Literal["cpu", "memory"], Quantity]
    limits: dict[Literal["nvidia.com/gpu"], Quantity]


class Capabilities(Form):
    drop: list[str]


class SecurityContext(Form):
    allowPrivilegeEscalation: bool
    capabilities: Capabilities


class Mount(Form):
    name: Name
    mountPath: Annotated[str, Field(pattern="^/")]
    readOnly: bool = False


class Container(Form):
    name: Name
    image: str
    command: list[str]
    args: list[str]
    env: list[Variable]
    ports: list[ContainerPort]
    resources: Resources
    startupProbe: Probe
    readinessProbe: Probe
    livenessProbe: Probe
    securityContext: SecurityContext
    volumeMounts: list[Mount]


class ConfigMapSource(Form):
    name: Name


class ClaimSource(Form):
    claimName: Name


class EmptyDir(Form):
    medium: Literal["Memory"]
    sizeLimit: Quantity


class Volume(Form):
    name: Name
    configMap: ConfigMapSource | None = None
    persistentVolumeClaim: ClaimSource | None = None
    emptyDir: EmptyDir | None = None


class PodSpec(Form):
    automountServiceAccountToken: bool
    enableServiceLinks: bool
    terminationGracePeriodSeconds: Annotated[int, Field(ge=0)]
    containers: Annotated[list[Container], Field(min_length=1)]
    volumes: list[Volume]


class Template(Form):
    class PodMetadata(Form):
        labels: Labels

    metadata: PodMetadata
    spec: PodSpec


class Selector(Form):
    matchLabels: Labels


class Strategy(Form):
    type: Literal["Recreate", "RollingUpdate"]


class DeploymentSpec(Form):
    replicas: Annotated[int, Field(ge=0)]
    strategy: Strategy
    selector: Selector
    template: Template


class Deployment(Form):
    apiVersion: Literal["apps/v1"]
    kind: Literal["Deployment"]
    metadata: Metadata
    spec: DeploymentSpec


class Storage(Form):
    requests: dict[Literal["storage"], Quantity]


class ClaimSpec(Form):
    accessModes: list[Literal["ReadWriteOnce", "ReadOnlyMany", "ReadWriteMany", "ReadWriteOncePod"]]
    resources: Storage


class PersistentVolumeClaim(Form):
    apiVersion: Literal["v1"]
    kind: Literal["PersistentVolumeClaim"]
    metadata: Metadata
    spec: ClaimSpec


class ServicePort(Form):
    name: Name
    port: Annotated[int, Field(ge=1, le=65535)]
    targetPort: Name


class ServiceSpec(Form):
    type: Literal["ClusterIP", "NodePort", "LoadBalancer"]
    selector: Labels
    ports: list[ServicePort]


class Service(Form):
    apiVersion: Literal["v1"]
    kind: Literal["Service"]
    metadata: Metadata
    spec: ServiceSpec


class Expression(Form):
    key: str
    operator: Literal["In", "NotIn", "Exists", "DoesNotExist"]
    values: list[str]


class Peer(Form):
    podSelector: Selector


class PolicyPort(Form):
    port: Name | int


class Ingress(Form):
    # Kubernetes calls it `from`, which Python does not allow.
    peers: Annotated[list[Peer], Field(alias="from")]
    ports: list[PolicyPort]


class Pods(Form):
    matchExpressions: list[Expression]


class PolicySpec(Form):
    podSelector: Pods
    policyTypes: list[Literal["Ingress", "Egress"]]
    ingress: list[Ingress]


class NetworkPolicy(Form):
    apiVersion: Literal["networking.k8s.io/v1"]
    kind: Literal["NetworkPolicy"]
    metadata: Metadata
    spec: PolicySpec


Resource = Annotated[Deployment | PersistentVolumeClaim | Service | NetworkPolicy, Field(discriminator="kind")]
RESOURCE: TypeAdapter[Resource] = TypeAdapter(Resource)
