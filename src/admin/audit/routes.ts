// The rows of the admin listener about the audit log: method, path, permission, handler.

import { account, type ApiRow } from '../api/api-types.ts'
import { auditExportParameters, auditParameters, exportAuditLogs, listAuditLogs } from './audit-logs.ts'

export const auditRows: readonly ApiRow[] = [
  {
    method: 'GET',
    path: `${account}/audit_logs`,
    permission: 'Audit Logs Read',
    query: auditParameters,
    handle: listAuditLogs,
  },
  {
    method: 'GET',
    path: `${account}/audit_logs/export`,
    permission: 'Audit Logs Read',
    query: auditExportParameters,
    handle: exportAuditLogs,
  },
]
