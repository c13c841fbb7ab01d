// Reads the bodies of requests about dynamic routes, in the shape of their published client.

import { isId } from '../../base/ids/id.ts'
import { maxElements, readElements } from '../../ai/failover/route-elements.ts'
import { faultAt } from '../../errors/catalogue/api-faults.ts'
import type { Fault } from '../../errors/catalogue/refusal.ts'
import type { RouteElement } from '../../store/records/model-route.ts'
import { Field } from '../http/field.ts'

type IsModel = (name: string) => boolean

const name = /^[A-Za-z0-9](?:[A-Za-z0-9 ._-]{0,62}[A-Za-z0-9._-])?$/
export const namePattern = name.source

export function readNewRoute(
  body: unknown,
  isModel: IsModel,
): { readonly name: string; readonly elements: readonly RouteElement[] } | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members(['name', 'elements'])
  const read = { name: readName(members.name), elements: elementsOf(members.elements, faults, isModel) }
  return faults.length > 0 ? faults : read
}

export function readNewVersion(
  body: unknown,
  isModel: IsModel,
): { readonly elements: readonly RouteElement[] } | readonly Fault[] {
  const faults: Fault[] = []
  const members = new Field(body, faults).members(['elements'])
  const elements = elementsOf(members.elements, faults, isModel)
  return faults.length > 0 ? faults : { elements }
}

export function readRename(body: unknown): { readonly name: string } | readonly Fault[] {
  const faults: Fault[] = []
  const read = { name: readName(new Field(body, faults).members(['name']).name) }
  return faults.length > 0 ? faults : read
}

export function readDeployment(body: unknown): { readonly version: string } | readonly Fault[] {
  const faults: Fault[] = []
  const { version_id } = new Field(body, faults).members(['version_id'])
  const version = version_id.ruled(text => (isId(text) ? null : 'must be the id of a version')) ?? ''
  return faults.length > 0 ? faults : { version }
}

function readName(field: Field): string {
  const flaw =
    'must be 1 to 64 letters, digits, spaces, dots, hyphens and underscores, and begin with a letter or digit'
  return field.ruled(text => (name.test(text) ? null : flaw)) ?? ''
}

function elementsOf(field: Field, faults: Fault[], isModel: IsModel): readonly RouteElement[] {
  if (field.value === undefined) return []
  const read = readElements(field.value, isModel)
  if (!('flaws' in read)) return read
  for (const { pointer, place, rule } of read.flaws.slice(0, maxElements))
    faults.push(faultAt(pointer, 'invalid', place, rule))
  return []
}
