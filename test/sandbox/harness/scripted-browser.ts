import { demoMembers } from '../../../sandbox/seed/demo-members.ts';

export interface Shown {
	status: number;
	headers: Headers;
	html: string;
	/** The target of a redirect. */
	location: string;
}

type Fields = Record<string, string>;

export type Browser = ReturnType<typeof newBrowser>;

/**
 * A browser without a screen: it keeps cookies and sends the forms of pages.
 *
 * @param request sends a request to the sandbox, without following redirects
 */
export function newBrowser(request: (path: string, init: RequestInit) => Promise<Response>) {
	const cookies = new Map<string, string>();

	const send = async (path: string, init: RequestInit): Promise<Shown> => {
		const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
		const headers = { ...(init.headers as Fields), ...(cookie && { Cookie: cookie }) };
		const response = await request(path, { ...init, headers, redirect: 'manual' });
		for (const line of response.headers.getSetCookie()) {
			const [, name, value] = /^(\w+)=([^;]*)/.exec(line)!;
			if (value === '') cookies.delete(name!);
			else cookies.set(name!, value!);
		}
		const location = response.headers.get('Location') ?? '';
		const { status, headers: answered } = response;
		return { status, headers: answered, html: await response.text(), location };
	};

	const submit = (path: string, fields: Fields, headers?: Fields) => {
		const body = new URLSearchParams(fields);
		const type = { 'Content-Type': 'application/x-www-form-urlencoded' };
		return send(path, { method: 'POST', body: body.toString(), headers: { ...type, ...headers } });
	};
	return {
		open: (path: string) => send(path, {}),
		submit,
		async signIn(role: 'admin' | 'member') {
			const { email, password } = demoMembers.find((member) => member.role === role)!;
			return await submit('/sign-in', { email, password });
		},
	};
}

/** The value of a hidden input; empty if there is none. */
export const hiddenValue = ({ html }: Shown, name: string): string =>
	new RegExp(`name="${name}" value="([^"]*)"`).exec(html)?.[1] ?? '';

/** Sends a form, and opens the page to which it redirects. That page shows the outcome once. */
export async function submitAndFollow(browser: Browser, path: string, fields: Fields): Promise<Shown> {
	const { location } = await browser.submit(path, fields);
	return await browser.open(location);
}

/** The values that a settings page shows only once, in order. */
export const shownOnce = ({ html }: Shown): string[] =>
	[.../<div class="notice" role="status">[\s\S]*?<\/div>/.exec(html)![0].matchAll(/<code>(.*?)</g)].map(([, value]) => value!);
