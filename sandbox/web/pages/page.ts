import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import { icon, iconLinks } from './icon.ts';

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
