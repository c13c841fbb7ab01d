// The pages of the audit log.

import type { Route } from '../page/page-request.ts'
import { exportAudit, showAudit } from './handlers.ts'

const audit = '/dashboard/{account}/audit'

export const auditRoutes: readonly Route[] = [
  { path: audit, permission: 'Audit Logs Read', show: showAudit },
  { path: `${audit}/export`, permission: 'Audit Logs Read', show: exportAudit },
]
