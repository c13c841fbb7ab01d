// Draws a QR code as one path: the policy of our pages allows only known styles and pictures.

import encodeQR from 'qr'
import { type Html, html, raw } from '../../base/text/html.ts'

/** The quiet zone around the code, in cells (ISO/IEC 18004). */
const border = 4

/** Draws the code of a text of up to some 1,000 bytes, with a name for people who cannot see it. */
export function qrCode(text: string, name: string): Html {
  const rows = encodeQR(text, 'raw', { ecc: 'medium', border })
  const path = rows
    .map((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : '')).join(''))
    .join('')
  return html`<svg class="qr" role="img" aria-label="${name}" viewBox="0 0 ${rows.length} ${rows.length}" shape-rendering="crispEdges"><path fill="#fff" d="M0 0h${rows.length}v${rows.length}H0z"/><path d="${raw(path)}"/></svg>`
}
