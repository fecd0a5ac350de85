{{/* Where the webhook of ACK mounts the token, too. */}}
{{- define "headwater.rrsaDirectory" -}}
/var/run/secrets/ack.alibabacloud.com/rrsa-tokens
{{- end -}}

{{/* Environment variables from which the vendor's chain takes credentials. */}}
{{- define "headwater.alibabaCredentials" -}}
{{- with .Values.alibabaCloud -}}
{{- if .roleArn -}}
- name: ALIBABA_CLOUD_ROLE_ARN
  value: {{ .roleArn | quote }}
- name: ALIBABA_CLOUD_OIDC_PROVIDER_ARN
  value: {{ .oidcProviderArn | quote }}
- name: ALIBABA_CLOUD_OIDC_TOKEN_FILE
  value: {{ include "headwater.rrsaDirectory" $ }}/token
{{- else if .accessKeySecret -}}
{{- range $name, $key := dict "ALIBABA_CLOUD_ACCESS_KEY_ID" "access-key-id" "ALIBABA_CLOUD_ACCESS_KEY_SECRET" "access-key-secret" }}
- name: {{ $name }}
  valueFrom:
    secretKeyRef:
      name: {{ $.Values.alibabaCloud.accessKeySecret | quote }}
      key: {{ $key }}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
