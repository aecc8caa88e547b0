import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { html } from 'hono/html';
import type { Route } from '../../api/http/route.ts';

/** The icon of the n8n node, for light and for dark pages. */
const files = { '/icon.svg': 'crm-platform.svg', '/icon-dark.svg': 'crm-platform.dark.svg' };

export const iconRoutes = (): Route[] =>
	Object.entries(files).map(([path, file]) => ({
		method: 'GET',
		path,
		handler(c) {
			const svg = readFileSync(join(import.meta.dirname, '../../../icons', file), 'utf8');
			return c.body(svg, 200, { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'max-age=3600' });
		},
	}));

export const iconLinks = html`
	<link rel="icon" href="/icon.svg" media="(prefers-color-scheme: light)" />
	<link rel="icon" href="/icon-dark.svg" media="(prefers-color-scheme: dark)" />
`;

export const icon = html`<picture>
	<source srcset="/icon-dark.svg" media="(prefers-color-scheme: dark)" />
	<img src="/icon.svg" width="28" height="28" alt="" />
</picture>`;
