// The style and the scripts of the dashboard, each at an address that contains its digest, so that browsers
// may cache it indefinitely.

import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { foundation } from '../errors/render/design-tokens.ts'
import { style } from '../pages/parts/style.ts'
import type { PageResponse } from '../pages/parts/layout.ts'
import { paths } from './page/paths.ts'

interface Asset {
  readonly path: string
  readonly type: string
  readonly text: string
}

const folder = new URL('assets/', import.meta.url)
const read = (name: string) => readFileSync(new URL(name, folder), 'utf8')

/** The one style sheet: what all our pages share, and the dashboard's own. */
const sheet = assetOf('dashboard', 'css', compacted(foundation + style + read('dashboard.css')))

const modules: readonly Asset[] = readdirSync(folder)
  .filter(name => name.endsWith('.js'))
  .sort()
  .map(name => assetOf(name.slice(0, -'.js'.length), 'js', withoutRemarks(read(name))))

export const stylePath = sheet.path

/** Modules, each of which enhances a page that works without it. */
export const scriptPaths: readonly string[] = modules.map(({ path }) => path)

const byPath = new Map([sheet, ...modules].map(asset => [asset.path, asset]))

/** Returns the response for the path of a style sheet or script; null for other paths. */
export function assetAt(path: string): PageResponse | null {
  const asset = byPath.get(path)
  if (asset === undefined) return null
  const headers = [
    ['content-type', `${asset.type}; charset=utf-8`],
    ['cache-control', 'public, max-age=31536000, immutable'],
    ['cross-origin-resource-policy', 'same-origin'],
    ['x-content-type-options', 'nosniff'],
  ] as const
  return { status: 200, headers, body: asset.text }
}

function compacted(css: string): string {
  return css
    .replaceAll(/\/\*.*?\*\//gs, '')
    .replaceAll(/\s*([{};])\s*/g, '$1')
    .replaceAll(/([a-z0-9-]): |,\s+/g, (_, name) => (name === undefined ? ',' : `${name}:`))
}

/**
 * Removes indents, and comments on lines of their own, from a script; no string of ours has several lines.
 */
function withoutRemarks(script: string): string {
  return script.replaceAll(/^\s*(?:\/\*\*[\s\S]*?\*\/|\/\/.*)\n/gm, '').replaceAll(/^\s+/gm, '')
}

function assetOf(name: string, kind: 'css' | 'js', text: string): Asset {
  const digest = hash('sha256', text).slice(0, 12)
  const type = kind === 'css' ? 'text/css' : 'text/javascript'
  return { path: `${paths.assets}/${name}.${digest}.${kind}`, type, text }
}
