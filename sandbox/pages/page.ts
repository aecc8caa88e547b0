import { createHash } from 'node:crypto';
import type { Context } from 'hono';
import { html, raw } from 'hono/html';
import { style } from './style.ts';

/** What the tag `html` makes: values in it are escaped, texts of it are not. */
export type Html = ReturnType<typeof html>;

const styleHash = createHash('sha256').update(style).digest('base64');

interface Page {
	title: string;
	/** The inside of `main`. */
	body: Html;
	status?: 200 | 400 | 403 | 404 | 422 | 429;
	isWide?: boolean;
	/** Where its forms may lead, beside this server: sources of a CSP. */
	formTargets?: string[];
}

/** A page that runs no script, loads nothing, is framed by nobody and stays in no cache. */
export function renderPage(c: Context, page: Page): Response | Promise<Response> {
	const { title, body, status = 200, isWide = false, formTargets = [] } = page;
	const formAction = ["'self'", ...formTargets].join(' ');
	c.header(
		'Content-Security-Policy',
		`default-src 'none'; style-src 'sha256-${styleHash}'; form-action ${formAction}; ` +
			"frame-ancestors 'none'; base-uri 'none'",
	);
	c.header('X-Frame-Options', 'DENY');
	c.header('X-Content-Type-Options', 'nosniff');
	// Not no-referrer: with that, browsers send forms with the origin null.
	c.header('Referrer-Policy', 'same-origin');
	c.header('Cache-Control', 'no-store');
	return c.html(
		html`<!doctype html>
			<html lang="en">
				<head>
					<meta charset="utf-8" />
					<meta name="viewport" content="width=device-width" />
					<title>${title} · CRM Platform</title>
					<style>${raw(style)}</style>
				</head>
				<body>
					<main class="${isWide ? 'wide' : ''}">
						<p class="brand">CRM Platform</p>
						${body}
					</main>
				</body>
			</html>`,
		status,
	);
}

/** A page that says why something is not possible. */
export const refusalPage = (
	c: Context,
	status: NonNullable<Page['status']>,
	title: string,
	detail: string,
) =>
	renderPage(c, {
		title,
		status,
		body: html`<section class="card">
			<h1>${title}</h1>
			<p>${detail}</p>
		</section>`,
	});

export const alert = (message: string | undefined): Html | '' =>
	message === undefined ? '' : html`<div class="notice bad" role="alert"><p>${message}</p></div>`;
