// The rows of the admin listener about the audit log: method, path, permission, handler.

import { account, type ApiRow, row } from '../api/api-types.ts'
import { auditExportParameters, auditParameters, exportAuditLogs, listAuditLogs } from './audit-logs.ts'

export const auditRows: readonly ApiRow[] = [
  row('GET', `${account}/audit_logs`, 'Audit Logs Read', listAuditLogs, { query: auditParameters }),
  row('GET', `${account}/audit_logs/export`, 'Audit Logs Read', exportAuditLogs, {
    query: auditExportParameters,
  }),
]
