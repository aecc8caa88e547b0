import { play } from './poll-model/play.ts';
import { brokenPromises } from './poll-model/promises.ts';
test('one', async () => {
	const history = JSON.parse(process.env.HISTORY!);
	const played = await play(history);
	console.log(JSON.stringify({ broken: brokenPromises(played), all: played.service.all.map(({id,sequence,timestamp,type})=>[id,sequence,timestamp,type, ]), rows: [...played.n8n.rows].map(([k,v])=>[k, v.ids, v.status, new Date(v.at).toISOString()]), reports: played.n8n.reports.map(r=>({...r, at:new Date(r.at).toISOString()})), choices: played.choices.map(c=>({...c,from:new Date(c.from).toISOString(),to:new Date(c.to).toISOString()})), data: JSON.parse(played.n8n.staticData) }, null, 1));
});
