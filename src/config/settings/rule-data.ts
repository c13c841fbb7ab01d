// The settings of lookup data for rules: lists, and databases of countries and networks.

import type { ListConfig } from '../model/access-config.ts'
import type { ExpressionSettings } from '../shape/expression-shape.ts'
import type { Findings, Place } from '../file/mistake.ts'
import { describe, FileFault } from '../file/references.ts'
import { shortName } from '../shape/rules.ts'
import {
  dictionary,
  group,
  oneOrMore,
  optional,
  type Placed,
  type Shape,
  scalar,
  type Values,
} from '../shape/shape.ts'
import type { Scalar } from '../file/tree.ts'

/** Reads the path of a readable file, and returns it absolute; the content is read elsewhere. */
export const existingFile: Shape<string> = {
  read(tree, context) {
    const path = anyText.read(tree, context)
    if (path === undefined) return undefined
    try {
      return context.surroundings.findFile(path)
    } catch (error) {
      if (error instanceof FileFault) return context.findings.flaw(tree, error.message)
      const { code = 'unknown reason' } = error as NodeJS.ErrnoException
      const rule = `must be the path of a file that can be read (${code})`
      return context.findings.flaw(tree, `${rule}; got ${describe((tree as Scalar).text)}`)
    }
  },
  form: () => anyText.form(),
}

const anyText = scalar(text => ({ value: text }))

export const ruleData = {
  lists: optional(dictionary(shortName, existingFile), new Map<string, never>()),
  geo: group({
    databases: optional(oneOrMore(existingFile), []),
  }),
}

export interface RuleData {
  readonly lists: readonly string[]
  readonly hasGeo: boolean
}

/** An entry with mistakes counts as available, so that no further mistakes follow from it. */
export function dataFor({ lists, geo }: Values<typeof ruleData>, findings: Findings): RuleData {
  return { lists: [...lists.keys()], hasGeo: geo.databases.length > 0 || findings.concern('geo') }
}

/** Returns the lists that can be read. */
export function resolveLists(lists: Values<typeof ruleData>['lists']): ListConfig[] {
  return [...lists].flatMap(([name, path]) => (path === null ? [] : { name, path }))
}

/** Returns the text of an expression; records a mistake if it uses data that is not available. */
export function textOf(
  { value, ...place }: Placed<ExpressionSettings>,
  data: RuleData,
  findings: Findings,
): string {
  if (value.needsGeo) refuseWithoutGeo(place, data, findings)
  return value.text
}

/** Records a mistake if a rule uses countries or networks and no database is configured. */
export function refuseWithoutGeo(place: Place, { hasGeo }: RuleData, findings: Findings): void {
  if (hasGeo || findings.concern(place.path)) return
  findings.flaw(place, 'needs geo.databases to look up countries and networks')
}
