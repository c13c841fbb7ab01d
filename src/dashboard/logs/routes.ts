// The pages of the logs of AI gateways.

import type { Route } from '../page/page-request.ts'
import { showCharts } from './charts.ts'
import { setFeedback, showBody, showLog } from './detail.ts'
import { showLiveLogs, showLogs } from './list.ts'

const reading = { permission: 'AI Gateway Read' } as const
const logs = '/dashboard/{account}/gateways/{gateway}/logs'

export const logRoutes: readonly Route[] = [
  { path: logs, ...reading, show: showLogs },
  { path: `${logs}/live`, ...reading, show: showLiveLogs },
  { path: `${logs}/charts`, ...reading, show: showCharts },
  { path: `${logs}/{log}`, ...reading, show: showLog },
  {
    path: `${logs}/{log}/feedback`,
    permission: 'AI Gateway Edit',
    effect: 'sets',
    take: setFeedback,
  },
  { path: `${logs}/{log}/{part}`, ...reading, show: showBody },
]
