{{/* Names and blocks that several templates share. Invariant: api, worker and migrate run under the same restrictions. */}}

{{- define "mbongo.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "mbongo.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if eq .Release.Name (include "mbongo.name" .) }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "mbongo.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{- define "mbongo.selector" -}}
app.kubernetes.io/name: {{ include "mbongo.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "mbongo.labels" -}}
{{ include "mbongo.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "mbongo.image" -}}
{{- if .Values.image.digest }}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest }}
{{- else }}
{{- printf "%s:%s" .Values.image.repository (default .Chart.AppVersion .Values.image.tag) }}
{{- end }}
{{- end }}

{{- define "mbongo.secret" -}}
{{- required "existingSecret is required: the name of a Secret with DATABASE_URL and MASTER_KEY (see the chart's README)" .Values.existingSecret }}
{{- end }}

{{/* All that the Jobs that create and drop tables get: the database, as its owner if that is another role than the pods'. */}}
{{- define "mbongo.ownerEnvironment" -}}
- name: GATEWAY_MODE
  value: {{ .Values.config.GATEWAY_MODE | quote }}
- name: DATABASE_URL
  valueFrom:
    secretKeyRef:
      name: {{ default (include "mbongo.secret" .) .Values.ownerSecret }}
      key: DATABASE_URL
{{- end }}

{{- define "mbongo.serviceAccount" -}}
{{- default (include "mbongo.fullname" .) .Values.serviceAccount.name }}
{{- end }}

{{- define "mbongo.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end }}

{{- define "mbongo.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{- define "mbongo.placement" -}}
{{- with .nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{/* The certificate that issues the database's, for `sslrootcert`: a key of the Secret, which need not have it. */}}
{{- define "mbongo.databaseCaMount" -}}
- name: database-ca
  mountPath: /etc/mbongo-database
  readOnly: true
{{- end }}

{{- define "mbongo.databaseCaVolume" -}}
- name: database-ca
  secret:
    secretName: {{ include "mbongo.secret" . }}
    optional: true
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
