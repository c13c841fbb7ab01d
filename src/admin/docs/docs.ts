// The documentation on the side port: the pages below /docs.

import { type ApiResponse, failure } from '../http/envelope.ts'
import { openapiDocument } from '../openapi/openapi.ts'
import type { ApiRequest } from '../http/router.ts'
import type { Row } from '../api/api-types.ts'
import { ApiPages } from './api-pages.ts'
import { guide, guideIndex } from './guides.ts'
import type { Document } from './operations.ts'
import { docsPage } from './page.ts'

export function apiIndex(request: ApiRequest, rows: readonly Row[]): ApiResponse {
  return docsPage(pagesOf(rows).index(), homeOf(request))
}

export function apiOperation(request: ApiRequest, rows: readonly Row[]): ApiResponse {
  const { operation } = request.params
  const page = pagesOf(rows).operation(operation!)
  return page === null ? failure('no_such', 'Operation') : docsPage(page, homeOf(request))
}

export function guides(request: ApiRequest): ApiResponse {
  return docsPage(guideIndex(), homeOf(request))
}

export async function guideNamed(request: ApiRequest): Promise<ApiResponse> {
  const page = await guide(request.params.guide!)
  return page === null ? failure('no_such', 'Guide') : docsPage(page, homeOf(request))
}

let cached: ApiPages | null = null

function pagesOf(rows: readonly Row[]): ApiPages {
  cached ??= new ApiPages(openapiDocument(rows) as unknown as Document)
  return cached
}

/** Returns the target of the mark: for requests of the dashboard within this process, the dashboard. */
function homeOf({ requester }: ApiRequest): string {
  return requester.caller === undefined ? '/' : '/dashboard'
}
