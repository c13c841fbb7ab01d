// The documentation for signed-in users: the pages of the side port, wherever the dashboard is.

import { strictHeaders } from '../pages/parts/layout.ts'
import { apiPath } from './page/api-client.ts'
import type { Handler, Route } from './page/page-request.ts'

const docs = '/dashboard/{account}/docs'

const showDocs: Handler = async ({ api, path }) => {
  const [, , , , ...steps] = path.split('/').map(decodeURIComponent)
  const page = await api.docs(steps.length === 0 ? '' : apiPath(...steps))
  const { headers, body } = page
  const own = ['content-type', 'content-security-policy'].map(name => [name, headers[name]!] as const)
  return { status: 200, headers: [...own, ...strictHeaders], body }
}

export const docsRoutes: readonly Route[] = [
  { path: docs, permission: null, show: showDocs },
  { path: `${docs}/api`, permission: null, show: showDocs },
  { path: `${docs}/api/{operation}`, permission: null, show: showDocs },
  { path: `${docs}/{guide}`, permission: null, show: showDocs },
]
