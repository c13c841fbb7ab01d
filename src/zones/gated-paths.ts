// Spellings by which a request would pass a gate: its path leads to a route without that gate, but an origin
// that compares names less strictly takes it for one behind it.

import { leads, withoutQuery } from '../base/path/path.ts'
import type { RouteConfig } from '../config/model/config.ts'

interface GatedPath {
  readonly route: string
  readonly path: string
  readonly gates: string
}

export class GatedPaths {
  readonly #paths: readonly GatedPath[]

  private constructor(paths: readonly GatedPath[]) {
    this.#paths = paths
  }

  /** Returns null for routes none of which has a gate that those around it lack. */
  static of(routes: readonly RouteConfig[]): GatedPaths | null {
    const all = routes.map(route => ({
      route: route.path,
      path: looselyRead(route.path),
      gates: gatesOf(route),
    }))
    const own = all.filter(
      ({ path, gates }) =>
        gates !== open && all.some(other => other.gates !== gates && isAround(other.path, path)),
    )
    return own.length === 0 ? null : new GatedPaths(own.sort((a, b) => b.path.length - a.path.length))
  }

  /**
   * Returns the route with a gate for which a path may be meant, given its readings and the route that they
   * lead to; null for none.
   */
  behind(readings: readonly string[], chosen: RouteConfig): string | null {
    for (const reading of readings) {
      const path = withoutQuery(reading)
      const gated = isLoose.test(path) ? this.#find(looselyRead(path)) : undefined
      if (
        gated !== undefined &&
        isAround(looselyRead(chosen.path), gated.path) &&
        gatesOf(chosen) !== gated.gates
      )
        return gated.route
    }
    return null
  }

  #find(path: string): GatedPath | undefined {
    return this.#paths.find(one => leads(one.path, path))
  }
}

/** Whether a route leads to all that another one does, and more. */
function isAround(outer: string, inner: string): boolean {
  return outer.length < inner.length && leads(outer, inner)
}

const open = '[null,null]'

/** The rules of an MCP server are a gate, too: a route without them reads no messages. */
function gatesOf({ protect, mcp = null }: RouteConfig): string {
  return JSON.stringify([protect, mcp])
}

/** False for paths that have no other spelling; a colon may begin the name of a stream. */
const isLoose = /[A-Z%:]|\.(?:\/|$)/

/** Dots and blanks at the end of a name, and the stream within a file, as Windows has them. */
const leftOff = /(?<![. ])(?:[. ]+(?:::\$[^/]*)?|::\$[^/]*)(?=\/|$)/g

/** What macOS leaves out, and the dot of an I that Java compares without it. */
const unseen = /\p{Default_Ignorable_Code_Point}|(?<=i)\u0307/gu

/**
 * As origins do that take capital letters for small ones (Express, IIS, Java, macOS: also dotless ones, and
 * sharp s for two), one way to write a letter for another (macOS), or leave off what no name of Windows can
 * end with.
 */
function looselyRead(path: string): string {
  const folded = textOf(path).normalize('NFKC').toLowerCase().toUpperCase().toLowerCase()
  return folded.replace(unseen, '').replace(leftOff, '')
}

function textOf(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}
