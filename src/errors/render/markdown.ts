// The error record as Markdown with YAML frontmatter, for agents and terminals.

import { Document, type Scalar } from 'yaml'
import type { Problem } from '../catalogue/problem.ts'

export function renderMarkdown(problem: Problem): string {
  return `---
${frontmatter(problem)}---

# ${problem.title}

## What Happened

${problem.detail}

## What You Should Do

${problem.what_you_should_do}

---

${problem.footer}
`
}

function frontmatter(problem: Problem): string {
  const { error_code, error_name, error_category, status, ...rest } = problem
  const { type, title, detail, instance, what_you_should_do, footer, ...occasion } = rest
  const document = new Document({ error_code, error_name, error_category, status, ...occasion })
  // Unquoted, some YAML readers take a ray ID of digits for a number, a timestamp for a date, and a host such
  // as `no` for a boolean.
  for (const name of ['ray_id', 'timestamp', 'zone']) {
    const scalar = document.get(name, true) as Scalar
    scalar.type = 'QUOTE_DOUBLE'
  }
  return document.toString({ lineWidth: 0 })
}
