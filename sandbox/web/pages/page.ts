import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
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

/** The result of the tag `html`: interpolated values are escaped, literal parts are not. */
export type Html = ReturnType<typeof html>;

const style = readFileSync(join(import.meta.dirname, 'style.css'), 'utf8');

/** The source by which a CSP allows the inline style. */
const styleSource = `sha256-${createHash('sha256').update(style).digest('base64')}`;

interface Page {
	title: string;
	/** The content of `main`. */
	body: Html;
	status?: 200 | 400 | 403 | 404 | 409 | 412 | 422;
	/** Shown beside the page to signed-in users. */
	navigation?: Html;
	/** Targets of its forms other than this server, as sources of a CSP. */
	formTargets?: string[];
}

/** Renders a page that loads nothing but its icon, cannot be framed and is not cached. */
export async function renderPage(c: Context, page: Page): Promise<Response> {
	const { title, body, status = 200, navigation, formTargets = [] } = page;
	const formAction = ["'self'", ...formTargets].join(' ');
	c.header(
		'Content-Security-Policy',
		`default-src 'none'; style-src '${styleSource}'; img-src 'self'; ` +
			`form-action ${formAction}; frame-ancestors 'none'; base-uri 'none'`,
	);
	c.header('X-Frame-Options', 'DENY');
	c.header('X-Content-Type-Options', 'nosniff');
	// Not no-referrer: browsers would then submit forms with the origin null.
	c.header('Referrer-Policy', 'same-origin');
	c.header('Cache-Control', 'no-store');
	const document = await html`<!doctype html>
		<html lang="en">
			<head>
				<meta charset="utf-8" />
				<meta name="viewport" content="width=device-width, initial-scale=1" />
				<title>${title} · CRM Platform</title>
				${iconLinks}
				<style>${raw(style)}</style>
			</head>
			<body class="${navigation ? 'with-navigation' : ''}">
				${navigation ? html`<a class="skip" href="#main">Skip to content</a>${navigation}` : ''}
				<main id="main" tabindex="-1">
					${navigation ? '' : html`<p class="brand">${icon} CRM Platform</p>`}
					${body}
				</main>
			</body>
		</html>`;
	// A string is sent at once; anything else becomes a stream, which takes several milliseconds longer.
	return c.html(document.toString(), status);
}

/** A page that explains a refusal. */
export const refusalPage = (c: Context, status: NonNullable<Page['status']>, title: string, detail: string) =>
	renderPage(c, {
		title,
		status,
		body: html`<section class="card">
			<h1>${title}</h1>
			<p>${detail}</p>
			<p><a href="/">Home</a></p>
		</section>`,
	});

export const alert = (message: string | undefined): Html | '' =>
	message === undefined ? '' : html`<div class="notice bad" role="alert"><p>${message}</p></div>`;
