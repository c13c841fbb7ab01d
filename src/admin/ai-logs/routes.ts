// The rows of the admin listener about the logs of AI gateways: method, path, permission, handler.

import { account, type ApiRow } from '../api/api-types.ts'
import { jsonBody } from '../http/request-body.ts'
import {
  deleteLogs,
  editLog,
  getLog,
  getLogProviderResponse,
  getLogRequest,
  getLogResponse,
  listLogs,
  sumLogs,
} from './logs.ts'
import { tailLogs } from './scan.ts'
import { seriesOfLogs } from './series.ts'

const logs = `${account}/ai-gateway/gateways/{gateway_id}/logs`
const log = `${account}/ai-gateway/gateways/{gateway_id}/logs/{log_id}`

export const logRows: readonly ApiRow[] = [
  { method: 'GET', path: logs, permission: 'AI Gateway Read', query: null, handle: listLogs },
  {
    method: 'DELETE',
    path: logs,
    permission: 'AI Gateway Edit',
    query: null,
    lastingAccess: 'nothing',
    handle: deleteLogs,
  },
  { method: 'GET', path: `${logs}/series`, permission: 'AI Gateway Read', query: null, handle: seriesOfLogs },
  { method: 'GET', path: `${logs}/tail`, permission: 'AI Gateway Read', query: null, handle: tailLogs },
  { method: 'GET', path: `${logs}/summary`, permission: 'AI Gateway Read', query: null, handle: sumLogs },
  { method: 'GET', path: log, permission: 'AI Gateway Read', handle: getLog },
  {
    method: 'PATCH',
    path: log,
    permission: 'AI Gateway Edit',
    body: jsonBody,
    lastingAccess: 'nothing',
    handle: editLog,
  },
  { method: 'GET', path: `${log}/request`, permission: 'AI Gateway Read', handle: getLogRequest },
  { method: 'GET', path: `${log}/response`, permission: 'AI Gateway Read', handle: getLogResponse },
  {
    method: 'GET',
    path: `${log}/provider_response`,
    permission: 'AI Gateway Read',
    handle: getLogProviderResponse,
  },
]
