// Handlers of the error pages that the API sets for a zone: HTML by type of error.

import { faultAt } from '../../../errors/catalogue/api-faults.ts'
import { nextTurn } from '../../../base/turns/turns.ts'
import {
  type ErrorPageType,
  errorPageTypes,
  hasTooManyTokens,
  maxPageTokens,
} from '../../../config/model/custom-errors-config.ts'
import { auditOf, type Resource } from '../../../store/records/audit-entry.ts'
import { type ErrorPage, zoneOwner } from '../../../store/records/zone-lists.ts'
import { type ApiResponse, failure, failures, list, success } from '../../http/envelope.ts'
import type { Api, ZoneCall } from '../../api/api-types.ts'
import { drop, isoTime, upsert } from '../../records/record-handlers.ts'
import { etagOf, unmet, unmetByNone } from '../../http/precondition.ts'

export async function listErrorPages({ zone }: ZoneCall, { store }: Api): Promise<ApiResponse> {
  const set: object[] = []
  for (const type of errorPageTypes) {
    const current = await store.errorPages.get(zoneOwner, `${zone.name}/${type}`)
    await nextTurn()
    if (current) set.push(viewPage(current.record))
  }
  return list(set, { page: 1, perPage: errorPageTypes.length, total: set.length })
}

export async function getErrorPage(call: ZoneCall, { store }: Api): Promise<ApiResponse> {
  const type = typeOf(call)
  if (type === null) return noType
  const current = await store.errorPages.get(zoneOwner, `${call.zone.name}/${type}`)
  if (current === null) return noPage
  // It may be large: reading it is one step, writing it another.
  await nextTurn()
  return success(
    { ...viewPage(current.record), html: current.record.html },
    etagOf(revisionOf(current.record)),
  )
}

export async function setErrorPage(call: ZoneCall, { store, log }: Api): Promise<ApiResponse> {
  const type = typeOf(call)
  if (type === null) return noType
  const html = call.body as string
  if (html.trim() === '') return blank
  if (hasTooManyTokens(html)) return tooManyTokens
  const { now, zone, ifMatch, ifNoneMatch } = call
  const name = { account: zoneOwner, id: `${zone.name}/${type}` }
  const make = (current: ErrorPage | null) => {
    const revision = current && revisionOf(current)
    const refusal = unmet(ifMatch, revision) ?? unmetByNone(ifNoneMatch, revision)
    if (refusal !== null) return refusal
    const createdAt = current?.createdAt ?? now
    // Always later than before, whatever the clocks say, since it identifies states.
    const modifiedAt = current === null ? now : Math.max(now, current.modifiedAt + 1)
    const record = { ...name, zone: zone.name, type, html, createdAt, modifiedAt }
    return { record, audit: auditOf(call, current ? 'update' : 'create', resourceOf(name.id), ['html']) }
  }
  const set = await upsert(store.errorPages, name, make, log)
  return 'record' in set ? success(viewPage(set.record), etagOf(revisionOf(set.record))) : set
}

export async function deleteErrorPage(call: ZoneCall, { store, log }: Api): Promise<ApiResponse> {
  const type = typeOf(call)
  if (type === null) return noType
  const id = `${call.zone.name}/${type}`
  const audit = auditOf(call, 'delete', resourceOf(id))
  for (;;) {
    const current = await store.errorPages.get(zoneOwner, id)
    const refusal = current && unmet(call.ifMatch, revisionOf(current.record))
    if (refusal !== null) return refusal
    if (await drop(store.errorPages, audit, log, current?.version, zoneOwner)) return success({ type })
    if (current === null) return noPage
  }
}

function typeOf({ params }: ZoneCall): ErrorPageType | null {
  return errorPageTypes.find(type => type === params.page_type) ?? null
}

function viewPage({ type, html, modifiedAt }: ErrorPage) {
  return { type, size: Buffer.byteLength(html), modified_at: isoTime(modifiedAt) }
}

function revisionOf({ createdAt, modifiedAt, html }: ErrorPage) {
  return { revision: [createdAt, modifiedAt, html.length].map(hexOf).join('') }
}

function hexOf(value: number): string {
  return value.toString(16).padStart(12, '0')
}

function resourceOf(id: string): Resource {
  return { resourceKind: 'error_page', resource: id }
}

const noType = failure('no_page_type', errorPageTypes.join(', '))
const noPage = failure('no_page')

const tooManyTokens = failures([
  faultAt('', 'invalid', 'The body', `must have at most ${maxPageTokens} tokens`),
])

/** A blank page would hide the error. */
const blank = failures([faultAt('', 'invalid', 'The body', 'must not be blank')])
