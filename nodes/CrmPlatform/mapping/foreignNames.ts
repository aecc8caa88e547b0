import { getOrCreate } from '../base/maps';

/**
 * What other systems and people call a field, by its name in the API; with the collection in front if the field of other
 * records is called otherwise. Case, spaces and punctuation do not matter. To teach imports a name, add it here.
 *
 * Names that also stand for something else are left out: `Name` of a person, `E-mail Type`, `Region`.
 */
const foreignNames: Record<string, string> = {
	first_name: 'given name, forename, fname, vorname, prénom, nombre, nome, imię, voornaam, förnamn',
	last_name: 'family name, surname, lname, nachname, familienname, nom de famille, apellido, apellidos, cognome, sobrenome, nazwisko, achternaam, efternamn',
	email:
		'e-mail, email address, e-mail address, mail, mail address, primary email, work email, business email, e-mail-adresse, mailadresse, correo, correo electrónico, courriel, adresse e-mail, indirizzo e-mail, posta elettronica',
	phone:
		'phone number, telephone, telephone number, tel, primary phone, main phone, company main phone, work phone, business phone, mobile, mobile phone, mobile number, cell, cell phone, home phone, telefon, telefonnummer, handy, mobil, mobiltelefon, teléfono, móvil, téléphone, portable, telefono, cellulare, telefone, telefoon',
	job_title: 'job, position, role, organization title, berufsbezeichnung, funktion, puesto, cargo, poste, fonction, qualifica, functie',
	'contacts/job_title': 'title',
	company_id:
		'company, company name, account name, account, organization, organization name, organisation, organisation name, associated company, employer, firma, firmenname, unternehmen, empresa, entreprise, société, azienda, bedrijf',
	'companies/name':
		'company, company name, account name, account, organization, organization name, organisation, organisation name, firma, firmenname, unternehmen, empresa, nombre de la empresa, entreprise, société, azienda, bedrijf',
	parent_company_id: 'parent, parent account, parent account name, parent organization, konzern',
	contact_id: 'contact name, primary contact, contact person, contact email, associated contact, ansprechpartner, contacto, contatto',
	owner_id:
		'record owner, account owner, assigned to, assigned user, responsible, sales rep, salesperson, besitzer, zuständig, propietario, propriétaire, proprietario, eigenaar',
	lead_source: 'source, original source, contact source, herkunft, origen',
	lifecycle_stage: 'lifecycle, life cycle stage, lead stage, customer stage',
	'address.street':
		'street/road name of address, street, street address, address line 1, mailing street, billing street, business street, work street, home street, address street, straße, strasse, anschrift, calle, dirección, rue, via, ulica, straat',
	'address.city': 'city/town/village/locality of address, city, town, mailing city, billing city, business city, home city, address city, ort, stadt, ciudad, ville, città, cidade, miasto, plaats',
	'address.state':
		'state/county of address, state, state/region, province, state/province, mailing state, billing state, mailing state/province, billing state/province, business state, home state, address region, address state, bundesland, provincia',
	'address.postal_code':
		'zip/postal code of address, billing code, mailing code, postal code, zip, zip code, postcode, post code, postal, zip/postal code, mailing zip, mailing zip/postal code, billing zip, billing zip/postal code, mailing postal code, billing postal code, business postal code, home postal code, address postal code, address zip, plz, postleitzahl, código postal, code postal, cap',
	'address.country':
		'country of address, country, country code, country/region, mailing country, billing country, business country, business country/region, home country, home country/region, address country, land, país, pays, paese',
	timezone: 'tz',
	language: 'preferred language, locale, sprache, idioma, langue, lingua',
	website: 'website url, web page, web site, web address, url, homepage, home page, company website, webseite, internetseite, sitio web, site web, sito web',
	domain: 'domain name, company domain, company domain name, web domain, email domain',
	industry: 'sector, branche, industria, secteur, settore',
	employee_count: 'employees, number of employees, no. of employees, # of employees, headcount, company size, mitarbeiter, mitarbeiterzahl, anzahl mitarbeiter, empleados, effectif',
	annual_revenue: 'revenue, turnover, yearly revenue, umsatz, jahresumsatz, ingresos anuales, facturación, chiffre d’affaires, fatturato',
	'companies/description': 'about, about us, company description, beschreibung, descripción',
	'deals/title': 'deal name, deal title, opportunity name, opportunity, name, bezeichnung',
	stage_id: 'stage name, deal stage, sales stage, opportunity stage, pipeline stage, phase, etapa, étape',
	pipeline_id: 'deal pipeline, sales pipeline, pipeline name',
	amount: 'deal value, value, deal amount, deal size, betrag, wert, importe, montant, importo',
	currency: 'currency iso code, currency code, deal currency, währung, moneda, devise, valuta',
	probability: 'win probability, deal probability, probability (%), wahrscheinlichkeit, probabilidad',
	expected_close_date: 'close date, closing date, expected close, expected closing date, estimated close date, abschlussdatum, fecha de cierre, date de clôture',
	lost_reason: 'loss reason, reason lost, closed lost reason, verlustgrund',
	external_id: 'record id, external key, source id, legacy id',
	tag_ids: 'tag, labels, label, categories, category, groups, etiquetas, schlagwörter',
};

/** What a record of a collection is called in the name of a column, such as `Person - Phone`, `Deal Stage` or `Account ID`. */
export const recordWords: Record<string, string[]> = {
	contacts: ['contact', 'person', 'lead'],
	companies: ['company', 'organization', 'organisation', 'account'],
	deals: ['deal', 'opportunity'],
	tickets: ['ticket', 'case'],
	tasks: ['task', 'activity'],
};

/** The names in the table for the fields of a collection: each with the names of the fields that it may mean. */
export function foreignNamesOf(collection: string, wordsOf: (name: string) => string): Map<string, Set<string>> {
	const meanings = new Map<string, Set<string>>();
	for (const [key, names] of Object.entries(foreignNames)) {
		const [field = '', of] = key.split('/').reverse();
		if (of !== undefined && of !== collection) continue;
		for (const name of names.split(', ')) getOrCreate(meanings, wordsOf(name), () => new Set<string>()).add(field);
	}
	// The ID of another type of record, such as that of an account among contacts, is not the record's own.
	for (const word of recordWords[collection] ?? []) meanings.set(wordsOf(`${word} id`), new Set(['external_id']));
	return meanings;
}
