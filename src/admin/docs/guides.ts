// /docs and /docs/{guide}: the guides in docs/, which are part of the program, as pages for people.

import { existsSync, readFileSync, readdirSync } from 'node:fs'
import type { Marked } from 'marked'
import { html, raw } from '../../base/text/html.ts'
import type { DocsPage } from './page.ts'

/** Beside the built program, or in the folder of the project. */
const folder = ['docs/', '../../../docs/']
  .map(path => new URL(path, import.meta.url))
  .find(url => existsSync(new URL('configuration.md', url)))

const ending = '.md'

/** Without the pictures of the dashboard, which are not shipped. */
const names = (folder === undefined ? [] : readdirSync(folder))
  .filter(file => file.endsWith(ending) && file !== 'screenshots.md')
  .map(file => file.slice(0, -ending.length))
  .sort()

const cached = new Map<string, DocsPage>()

export function guideIndex(): DocsPage {
  const items = names.map(
    name => html`<li><a href="docs/${name}">${titleOf(textOf(name))}</a></li>
`,
  )
  const content = html`<p>The guides of this version, and <a href="docs/api">the operations of the management API</a>.</p>
<ul class="links">
${items}</ul>`
  return { title: 'Documentation', content, crumbs: [] }
}

export async function guide(name: string): Promise<DocsPage | null> {
  if (!names.includes(name)) return null
  const guide = cached.get(name)
  if (guide !== undefined) return guide
  const page = await render(textOf(name))
  cached.set(name, page)
  return page
}

async function render(markdown: string): Promise<DocsPage> {
  const title = titleOf(markdown)
  const { Marked, Renderer } = await import('marked')
  let count = 0
  const { code, table: tables } = Renderer.prototype
  const marked: Marked = new Marked({
    renderer: {
      heading({ tokens, depth }) {
        const content = this.parser.parseInline(tokens)
        return `<h${depth} id="${anchorOf(content)}">${content}</h${depth}>\n`
      },
      link({ href, tokens }) {
        const content = this.parser.parseInline(tokens)
        const target = targetOf(href)
        return target === null ? content : html`<a href="${target}">${raw(content)}</a>`.markup
      },
      // A scrollable region must be reachable by keyboard.
      table(token): string {
        const table = tables.call(this, token).replaceAll('<th></th>', '<td></td>')
        return `<div class="wide" tabindex="0" role="region" aria-label="Table ${++count}">${table}</div>\n`
      },
      image: () => '',
      // Diagrams, which GitHub draws.
      code(token): string {
        return token.lang === 'mermaid' ? '' : code.call(this, token)
      },
      html: () => '',
    },
  })
  const body = markdown.slice(markdown.indexOf('\n') + 1)
  return { title, content: raw(await marked.parse(body)), crumbs: [['../docs', 'Documentation']] }
}

/** Returns the target of a guide's link on its page; null if it is not among the pages. */
function targetOf(href: string): string | null {
  if (/^(https?:|#)/.test(href)) return href
  const [, name, place = ''] = /^([a-z-]+)\.md(#.*)?$/.exec(href) ?? []
  return name !== undefined && names.includes(name) ? name + place : null
}

/** Returns the anchor of a heading for links between guides, as the usual viewers of Markdown make it. */
function anchorOf(heading: string): string {
  return heading
    .replaceAll(/<[^>]*>|&[a-z#\d]+;/g, '')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-')
}

function textOf(name: string): string {
  return readFileSync(new URL(name + ending, folder), 'utf8')
}

function titleOf(markdown: string): string {
  return /^# (.*)$/m.exec(markdown)![1]!
}
