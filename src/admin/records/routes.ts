// The rows of the admin listener that are about what was done: method, path, permission, handler.

import { account, type ApiRow } from '../row.ts'
import { auditExportParameters, auditParameters, exportAuditLogs, listAuditLogs } from './audit-logs.ts'

export const auditRows: readonly ApiRow[] = [
  // Who may see tokens may see what was done with them.
  {
    method: 'GET',
    path: `${account}/audit_logs`,
    permission: 'API Tokens Read',
    query: auditParameters,
    handle: listAuditLogs,
  },
  {
    method: 'GET',
    path: `${account}/audit_logs/export`,
    permission: 'API Tokens Read',
    query: auditExportParameters,
    handle: exportAuditLogs,
  },
]
