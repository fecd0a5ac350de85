{{- define "headwater.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 63 | trimSuffix "-" -}}
{{- end -}}

{{- define "headwater.fullname" -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 63 | trimSuffix "-" -}}
{{- else if contains (include "headwater.name" .) .Release.Name -}}
{{- .Release.Name | trunc 63 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name (include "headwater.name" .) | trunc 63 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* Never changed: a Deployment's selector is immutable. */}}
{{- define "headwater.selector" -}}
app.kubernetes.io/name: {{ include "headwater.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "headwater.labels" -}}
{{ include "headwater.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "headwater.agentName" -}}
{{- printf "%s-agent" (include "headwater.fullname" . | trunc 57 | trimSuffix "-") -}}
{{- end -}}

{{/* Never changed, and never that of a Deployment. */}}
{{- define "headwater.agentSelector" -}}
app.kubernetes.io/name: {{ printf "%s-agent" (include "headwater.name" . | trunc 57) }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "headwater.agentLabels" -}}
{{ include "headwater.agentSelector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "headwater.agentSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end -}}

{{/* The files of the roles that the mode needs. */}}
{{- define "headwater.clusterRole" -}}
{{- $mode := include "headwater.mode" . -}}
{{- if eq $mode "nodeipam" -}}
{{- $allocator := index .Values.options "cidr-allocator-type" | default "RangeAllocator" -}}
{{- ternary "cluster-role-nodeipam.yaml" "cluster-role-nodeipam-cloud.yaml" (eq $allocator "RangeAllocator") -}}
{{- else -}}
{{- has $mode (list "cluster-pool" "multi-pool") | ternary (printf "cluster-role-%s.yaml" $mode) "cluster-role.yaml" -}}
{{- end -}}
{{- end -}}

{{/* A controller that creates no definitions may not write them. */}}
{{- define "headwater.clusterRules" -}}
{{- $rules := (.Files.Get (include "headwater.clusterRole" .) | fromYaml).rules -}}
{{- if and (eq (toString (index .Values.options "manage-agent-taint")) "true") (ne (include "headwater.mode" .) "nodeipam") -}}
{{- $rules = concat $rules (.Files.Get "cluster-role-agent-taint.yaml" | fromYaml).rules -}}
{{- end -}}
{{- $mayWrite := ne (toString (index .Values.options "skip-crd-creation")) "true" -}}
{{- range $rule := $rules -}}
{{- if and (has "customresourcedefinitions" .resources) (not $mayWrite) -}}
{{- $rule = merge (dict "verbs" (without .verbs "create" "update")) (omit . "verbs") -}}
{{- end -}}
{{- with $rule.verbs }}
{{ list $rule | toYaml }}
{{- end }}
{{- end -}}
{{- end -}}

{{- define "headwater.leaseRole" -}}
{{- eq (include "headwater.mode" .) "nodeipam" | ternary "role-nodeipam.yaml" "role.yaml" -}}
{{- end -}}

{{- define "headwater.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "headwater.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "headwater.usualLease" -}}
{{- eq (include "headwater.mode" .) "nodeipam" | ternary "headwater-nodeipam" "headwater" -}}
{{- end -}}

{{/* The Lease that replicas contend for, which the Role names. */}}
{{- define "headwater.lease" -}}
{{- index .Values.options "leader-election-lease-name" | default (include "headwater.usualLease" .) -}}
{{- end -}}

{{- define "headwater.image" -}}
{{- $repository := required "image.repository is not set: no image of Headwater is published yet, build one with image/Dockerfile and name it there." .Values.image.repository -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" $repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" $repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
