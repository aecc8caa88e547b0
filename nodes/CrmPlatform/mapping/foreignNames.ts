import { isLink } from '../api/openapi/linkFields';
import { getOrCreate } from '../base/maps';
import { idField, type Field } from '../fields/field';
import { wordsOf, type FieldNames } from './fieldNames';

/** What people call a company, or the company that a record belongs to. */
const companyWords = 'company, account, sales account, organization, organisation, firma, unternehmen, empresa, entreprise, société, azienda, bedrijf';
const companyNames = `${companyWords}, company name, account name, organization name, organisation name, firmenname, unternehmensname, nombre de la empresa, nom de l’entreprise`;

/**
 * What other systems and people call a field, by its name in the API; with the collection in front if the field of other
 * records is called otherwise. Case, spaces and punctuation do not matter, and `variantsOf` knows what exports add. To teach
 * imports a name, add it here.
 *
 * Names that also stand for something else are left out: `Name` of a person, `E-mail Type`, `Region`.
 */
const foreignNames: Record<string, string> = {
	first_name: 'first, given name, forename, fname, vorname, prénom, nombre, nome, imię, voornaam, förnamn',
	last_name: 'last, family name, surname, lname, nachname, familienname, nom de famille, apellido, apellidos, cognome, sobrenome, nazwisko, achternaam, efternamn',
	email:
		'e-mail, email address, e-mail address, mail, mail address, primary email, work email, business email, e-mail-adresse, mailadresse, correo, correo electrónico, courriel, adresse e-mail, indirizzo e-mail, posta elettronica',
	phone:
		'phone number, telephone, telephone number, tel, primary phone, main phone, company main phone, work phone, business phone, office phone, mobile, mobile phone, mobile number, cell, cell phone, home phone, telefon, telefonnummer, handy, mobil, mobiltelefon, teléfono, número de teléfono, móvil, téléphone, numéro de téléphone, portable, telefono, cellulare, telefone, telefoon',
	job_title: 'job, position, job position, role, designation, occupation, organization title, berufsbezeichnung, stellenbezeichnung, jobtitel, funktion, puesto, cargo, poste, fonction, qualifica, ruolo, functie',
	'contacts/job_title': 'title',
	company_id: `${companyNames}, primary company, associated company, employer`,
	'companies/name': `${companyNames}, display name, nombre, nom, nome, naam`,
	parent_company_id: `parent, konzern, ${companyWords.replace(/(^|, )/g, '$1parent ')}`,
	contact_id: 'primary contact, contact person, contact email, associated contact, related contact, person, ansprechpartner, contacto, contatto',
	owner_id:
		'record owner, sales owner, account owner, owned by, assigned to, assigned user, assignee, user responsible, responsible user, responsible person, account manager, responsible, sales rep, salesperson, besitzer, zuständig, zuständiger mitarbeiter, propietario, propriétaire, proprietario, eigenaar',
	lead_source: 'source, original source, herkunft, origen',
	'deals/source': 'lead source',
	lifecycle_stage: 'lifecycle, life cycle stage, lead stage, customer stage, lifecycle-phase',
	'address.street':
		'street/road name of address, street, street 1, street address, street address line, address 1, address line 1, straße, strasse, straße hausnummer, straße und hausnummer, calle, rue, via, ulica, straat',
	'address.city': 'city/town/village/locality of address, city, town, ort, stadt, ciudad, ville, città, cidade, miasto, plaats',
	'address.state': 'state/county of address, state, state/region, province, state/province, address region, bundesland, provincia',
	'address.postal_code': 'zip/postal code of address, postal code, zip, zip code, postcode, post code, postal, zip/postal code, billing code, mailing code, plz, postleitzahl, código postal, code postal, cap',
	'address.country': 'country of address, country, country code, country/region, land, land/region, país, país/región, pays, pays/région, paese',
	timezone: 'tz',
	language: 'preferred language, locale, sprache, idioma, langue, lingua',
	website: 'website url, web page, web site, web address, url, homepage, home page, company website, webseite, internetseite, sitio web, site web, url du site web, sito web',
	domain: 'domain name, web domain, email domain, nombre de dominio, nom de domaine',
	industry: 'sector, industry type, branche, industria, secteur, secteur d’activité, settore',
	employee_count: 'employees, number of employees, no. of employees, # of employees, headcount, company size, mitarbeiter, mitarbeiterzahl, anzahl mitarbeiter, anzahl der mitarbeiter, empleados, número de empleados, effectif, nombre d’employés',
	annual_revenue: 'revenue, turnover, yearly revenue, umsatz, jahresumsatz, jährlicher umsatz, ingresos anuales, facturación, chiffre d’affaires, chiffre d’affaires annuel, fatturato',
	'companies/description': 'about, about us, details, beschreibung, descripción',
	'deals/title': 'deal, deal name, deal title, opportunity, opportunity name, lead name, nom de la transaction, nombre del negocio, name, topic, bezeichnung',
	stage_id: 'sales stage, pipeline stage, current stage, phase, etapa, étape',
	pipeline_id: 'sales pipeline',
	amount: 'deal value, value, deal size, estimated value, est. revenue, expected revenue, betrag, wert, importe, cantidad, montant, importo',
	currency: 'currency iso code, currency code, währung, moneda, devise, valuta',
	probability: 'win probability, close probability, probability (%), probability of winning, win likelihood, wahrscheinlichkeit, probabilidad',
	expected_close_date: 'close date, closing date, expected close, expected closing, expected closing date, estimated close date, est. close date, forecast close date, forecasted close date, abschlussdatum, fecha de cierre, date de clôture',
	lost_reason: 'loss reason, loss reason name, reason lost, closed lost reason, verlustgrund',
	external_id: 'record id, id record, item id, external key, source id, legacy id, datensatz-id, id de registro, id d’objet, id d’enregistrement',
	tag_ids: 'tag, tag list, labels, label, categories, category, groups, group membership, etiquetas, schlagwörter',
};

/**
 * Words that other programs also use for something else: the state of a job, the URL of a request. A file is previewed;
 * in items, which are not, they are names of fields only where the CRM uses them.
 */
const ambiguousInItems = new Set(
	'about, cap, categories, category, code, deal, details, first, group, groups, item id, job, label, labels, land, last, lead, locale, parent, person, phase, position, role, source, source id, state, tag, title, topic, url, value, via, wert'
		.split(', ').map(wordsOf),
);

export const isAmbiguousInItems = (name: string): boolean => ambiguousInItems.has(wordsOf(name));

/** What a record of a collection is called in names of files, and of columns such as `Person - Phone`, `Deal Stage` or `Account ID`. */
export const recordWords: Record<string, string[]> = {
	contacts: ['contact', 'person', 'lead', 'kontakt', 'kontakte', 'contacto', 'contatto'],
	companies: companyWords.split(', '),
	deals: ['deal', 'opportunity', 'lead', 'transaction', 'negocio'],
	tickets: ['ticket', 'case'],
	tasks: ['task', 'activity'],
};

/** A column, as far as its name and those of the others say what it has. */
interface NamedColumn {
	name: string;
	/** The number of rows in which it is filled. */
	filled: number;
	samples: unknown[];
}

/** The fields that names of columns mean, usual names in other systems included. */
export class UsualNames {
	private readonly names: FieldNames;
	private readonly fields: Field[];
	private readonly words: string[];
	private readonly usual = new Map<string, Set<string>>();
	private readonly found = new Map<string, Field | undefined>();

	constructor(names: FieldNames, { collection, fields }: { collection: string; fields: Field[] }) {
		this.names = names;
		this.fields = fields;
		this.words = recordWords[collection] ?? [];
		for (const [key, others] of Object.entries(foreignNames)) {
			const [field = '', of = collection] = key.split('/').reverse();
			for (const name of of === collection ? others.split(', ') : []) getOrCreate(this.usual, wordsOf(name), () => new Set<string>()).add(field);
		}
		// The ID of another type of record, such as that of an account among contacts, is not the record's own. Dynamics has the
		// record's own ID in a column called (Do Not Modify) Account.
		for (const word of this.words) for (const name of [`${word} id`, `do not modify ${word}`]) this.usual.set(wordsOf(name), new Set(['external_id']));
	}

	/** The field of a name: the surest way to read it counts. */
	fieldOf(name: string): Field | undefined {
		return getOrCreate(this.found, name, () => this.readName(name));
	}

	/** Whether a name, as exports write it, is among the words of fields. */
	isAmong(name: string, words: ReadonlySet<string>): boolean {
		return variantsOf(name, this.words).some((variant) => words.has(wordsOf(variant)));
	}

	private readName(name: string): Field | undefined {
		const variants = variantsOf(name, this.words);
		const found = (names: string[]) => names.flatMap((variant) => this.exactly(variant) ?? []);
		const part = found([wordsOf(name).replace(kindsOfAddress, '')]).find(isPartOfAddress);
		// `Stage Name`: linked records and choices are given by name.
		const named = () => found(variants.map((variant) => variant.replace(/[\s_]*name$/i, ''))).find((field) => isLink(field) || field.choices);
		return found(variants)[0] ?? part ?? named();
	}

	/** The field of each column, and whether it is that only beside the others. */
	fieldsOf(columns: NamedColumn[]): Array<{ field: Field | undefined; isByOthers: boolean }> {
		const fields = columns.map(({ name }) => this.fieldOf(name));
		const others = (field: string, besides: number) => columns.filter((_, i) => i !== besides && fields[i]?.name === field);
		return columns.map(({ name, samples }, i) => {
			// In one cell, an address has several parts; beside its city, the column has the street.
			const isStreet = wholeAddress.test(wordsOf(name).replace(kindsOfAddress, '')) && others('address.city', i).some(({ filled }) => filled > 0);
			// Beside first names, `Name` or `Nom` is the last name unless it repeats them.
			const firstNames = /^(name|nom|nome|naam)$/i.test(name) ? others('first_name', i).flatMap((column) => column.samples) : [];
			const repeatsFirst = samples.some((value) => String(value).split(/\s+/).some((word) => firstNames.includes(word)));
			const isLastName = firstNames.length > 0 && !repeatsFirst && others('last_name', i).length === 0;
			// Beside a position, a title is a salutation, even if nobody has a position.
			const isSalutation = wordsOf(name) === 'title' && others('job_title', i).length > 0;
			const field = isStreet ? this.fieldOf('street') : isLastName ? this.fieldOf('last_name') : isSalutation ? undefined : fields[i];
			return { field, isByOthers: isStreet || isLastName };
		});
	}

	private exactly(name: string): Field | undefined {
		const [meaning, ...others] = this.names.meaningsOf(name);
		const usual = [...(this.usual.get(wordsOf(name)) ?? [])].flatMap((field) => this.fields.find((other) => other.name === field) ?? []);
		if (meaning === undefined || (typeof meaning === 'object' && meaning.kind === 'json')) return usual.length === 1 ? usual[0] : undefined;
		// An ID without a name is the other system's.
		return typeof meaning === 'object' && others.length === 0 && meaning.name !== idField.name ? meaning : undefined;
	}
}

export const isPartOfAddress = ({ path }: Field): boolean => path[0] === 'address';

/** What stands in front of the parts of an address: `Mailing Street`, `BillingCity`, `Address 1: ZIP`. */
const kindsOfAddress = /^(?:mailing|mail|billing|business|work|office|primary|main|home|location|address1?)+(?=.)/;

const wholeAddress = /^(?:address|adresse|anschrift|dirección|indirizzo|adres)$/;

/** What some exports add to the first of several: `Email - Work`. */
const ofKind = / - (?:Work|Main|Primary|Home|Mobile)$/i;

/** Which of the addresses of a record a column is part of, by its name. */
export const kindOfAddress = (name: string): string =>
	(kindsOfAddress.exec(wordsOf(name))?.[0] ?? '').replace(/address1?|location/g, '') + (ofKind.exec(name)?.[0] ?? '');

/** A name without a note in parentheses, and without what Salesforce adds to custom fields. */
export const withoutSuffix = (name: string): string => name.replace(/\s*\([^()]*\)\s*$/, '').replace(/__c$/i, '');

/**
 * A name, and what is left of it without what exports add: `Person - Email`, `Tier__c`, `Last Change (GMT+1)`, `Address 1 -
 * City`, `Phone 1 - Value`, `Propietario de la empresa`, `Email addresses`.
 *
 * @param words for the record
 */
function variantsOf(name: string, words: string[]): string[] {
	const plain = withoutSuffix(name)
		.replace(/ 1 - Value$/i, '')
		.replace(/^(\w+) 1 - /, '$1 ')
		.replace(ofKind, '')
		.replace(/ 1$/, '');
	const word = `(?:${words.join('|')})`;
	const prefix = new RegExp(`^${word}(?:\\s*[-:._>]\\s*|\\s+)(?=\\S)`, 'i');
	const suffix = new RegExp(`\\s(?:de la |de l['’]|del |des |du |für |of (?:the )?)${word}s?$`, 'i');
	const ofRecord = words.length > 0 ? plain.replace(prefix, '').replace(suffix, '') : plain;
	return [...new Set([name, plain, ofRecord, ofRecord.replace(/ies$/, 'y').replace(/(?<=ss)es$|(?<=[^s])s$/, '')])];
}
